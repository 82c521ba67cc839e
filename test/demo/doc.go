// SPDX-License-Identifier: Apache-2.0

// Package demo submits the documentation's jobs to a sandbox, tells what becomes of them and judges the end; nothing that a product needs lives here.
//
// [Run] acts; the story, the verdict and the table are worked out without a sandbox.
package demo
