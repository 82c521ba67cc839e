// SPDX-License-Identifier: Apache-2.0

// Package live is `make bench-live`: on one sandbox it has schedulers, and clients that only write what a scheduler would,
// bind the same gangs in turn, and compares how long they take. README.md has the rules. It is also `make bench-controller`, which
// compares PaddleJobs with equal Volcano Jobs on the same sandbox.
//
//   - load: what is submitted
//   - times: when it was created, bound and running, from the API server's audit log
//   - limit: the clients that only write
//   - usage: what the processes used
//   - churn: which jobs come and go, and what became of them
package live
