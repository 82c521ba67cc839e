// SPDX-License-Identifier: Apache-2.0

// Package replay runs Volcano's scheduler with the plugin in this process, over objects of a cluster: what it would bind,
// say and evict. Its cache, sessions, plugins and actions are the real ones; what they write ends here, and nothing is
// asked of any server. No API calls, no files, and no knowledge of PaddleJobs live here.
//
// Volcano keeps some of its state in variables of its packages, so one replay runs at a time in a process.
package replay
