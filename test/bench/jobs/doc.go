// SPDX-License-Identifier: Apache-2.0

// Package jobs measures the controller on a real control plane: many PaddleJobs beside as many equal raw Volcano Jobs, in
// one run. Nothing else lives here.
//
// Each round starts a sandbox of its own, creates all jobs, and waits until every pod has been created and every pod knows
// its peers; then until every job has completed. Writes are counted from the API server's audit log, by user.
package jobs
