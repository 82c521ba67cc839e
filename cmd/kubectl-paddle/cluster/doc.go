// SPDX-License-Identifier: Apache-2.0

// Package cluster reads what a cluster holds about PaddleJobs, with whatever rights the user has; it writes and prints nothing.
package cluster
