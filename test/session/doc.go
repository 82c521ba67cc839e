// SPDX-License-Identifier: Apache-2.0

// Package session is `make bench-session`: it has the packages below it measure the scheduler plugin inside Volcano's own
// sessions, in this process, and judges and writes the result.
//
//   - cluster: Volcano's scheduler over clusters and jobs given as plain values
//   - speed: how long allocate takes, how that and memory grow with the cluster, and what the plugin costs jobs that are not Paddle's
//   - quality: what placements cost on loaded clusters, against stock set-ups and against long searches
//   - churn: the heap while jobs come and go
package session
