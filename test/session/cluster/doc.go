// SPDX-License-Identifier: Apache-2.0

// Package cluster runs Volcano's scheduler in this process, over clusters and jobs given as plain values: the real cache,
// session, plugins and actions, with nothing behind them. What is measured in it is up to its callers.
//
// A Fleet is a cluster, a Job what someone wants to run, a Setup a configuration of the scheduler. A Scheduler holds the
// three: its sessions bind pods, and Bound says where. Jobs become what our controller (controller/builder) and Volcano's
// Job controller make of them. Volcano keeps some of its state in variables of its packages, so one session runs at a
// time in a process.
package cluster
