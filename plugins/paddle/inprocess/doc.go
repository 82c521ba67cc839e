// SPDX-License-Identifier: Apache-2.0

// Package inprocess is the cache of Volcano's scheduler with nothing behind it: what is bound, evicted and written ends here.
// Whoever runs real sessions without a cluster builds on it, a replay (plugins/paddle/replay) and benchmarks
// (test/session/cluster) alike. Neither objects nor sessions live here.
package inprocess
