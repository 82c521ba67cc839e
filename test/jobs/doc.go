// SPDX-License-Identifier: Apache-2.0

// Package jobs holds the tests of whole PaddleJobs: the shipped controller, with its shipped rights, on a sandbox. It
// has no code of its own.
package jobs
