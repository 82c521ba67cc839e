// SPDX-License-Identifier: Apache-2.0

// Package diagnose finds out why a gang waits: which of its pods are missing, what the planner says about a gang that does
// not fit, and what refuses nodes to its pods. It returns reports and decides nothing.
package diagnose
