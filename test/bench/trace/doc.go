// SPDX-License-Identifier: Apache-2.0

// Package trace is `make bench-trace`: it has the packages below it play a public trace of training jobs on a cluster with
// several schedulers, compares what came of it, judges and writes it. README.md has the rules of the game.
//
//   - philly: the jobs of the trace
//   - workload: jobs of a run, drawn from them
//   - site: the cluster, its network, and what flows where jobs are placed
//   - flows: how fast jobs go that share links, by a simulation
//   - fluid: the same by a formula
//   - opponents: placement rules of other schedulers, a search with full knowledge, and a bound
//   - play: one run in virtual time around Volcano's own scheduler, or by a rule
package trace
