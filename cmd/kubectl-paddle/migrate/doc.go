// SPDX-License-Identifier: Apache-2.0

// Package migrate says what would change if the controller took the PaddleJobs of a cluster over from paddle-operator: for each job
// what would become of it, by the controller's own rules, and in which order to switch. It reads no cluster, and changes nothing.
package migrate
