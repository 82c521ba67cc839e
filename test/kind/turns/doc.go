// SPDX-License-Identifier: Apache-2.0

// Package turns is make kind-bench: on a cluster that is there, schedulers bind the same gangs in turn, and what came of it is told as
// the benchmark on a sandbox tells it (test/bench/live), whose load, times and report these are. How a cluster is made is not known here.
package turns
