// SPDX-License-Identifier: Apache-2.0

// Package jobs tests whole PaddleJobs: the shipped controller, with its shipped permissions, on a sandbox.
package jobs
