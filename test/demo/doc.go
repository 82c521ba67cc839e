// SPDX-License-Identifier: Apache-2.0

// Package demo submits the documentation's jobs to a sandbox, tells what becomes of them and judges the end; nothing that a product needs lives here.
//
// [Run] and [RunReal] act; the story, the verdict, the table and what logs tell of training are worked out without a sandbox.
package demo
