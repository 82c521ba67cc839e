// SPDX-License-Identifier: Apache-2.0

// Package app is the paddlejob-controller as a program: flags, logs, metrics, health, leader election, clients. What it
// does with PaddleJobs is in package paddlejob.
package app
