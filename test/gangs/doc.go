// SPDX-License-Identifier: Apache-2.0

// Package gangs watches from outside, through the API, how gangs are bound on a sandbox of 500 nodes, or of 100 unless
// everything is tested; it holds tests only.
//
// TestGangsAreBoundWhole hands 200 jobs, or 40, of many kinds to the shipped components at once, more than there is room for. It
// waits until each gang is bound or says why it waits, lets those end that run, and goes on until each gang was bound.
// Pods run until then, so that the cluster is full however slow the machine is; some jobs fit no rack and may not leave
// one, so that there are pods that wait all the time. Nothing is slept for or polled: all comes from two watches, on pods
// and on PodGroups.
//
// # What is judged, and by which clock
//
// A gang is partly bound from its first binding until its minimum is bound. How long that takes is a matter of the
// machine: bindings are requests to an API server that shares two cores with everything else. So most is judged by an
// order that no machine changes: resource versions, which etcd gives out one after the other to all objects. Whatever the
// machine, these are faults:
//
//   - A gang whose minimum is never bound, though the first of it was.
//   - A gang about which the scheduler says, while it is partly bound, that it or a pod that it cannot do without is not
//     schedulable. The scheduler writes that when a session ends, before the next one begins: so it has bound a part, and
//     left the rest to a later session.
//   - A node that holds more than it has; a pod that is bound to no node and has status.nominatedNodeName.
//
// A gang that was partly bound for more than 5 seconds, both by the arrival of the watch's events and by the API server's stamps
// in the condition PodScheduled, is a fault if it was overtaken: if another gang began at least 5 seconds after it and was whole
// first. If nobody overtook it, the API server was slow for all, which is only logged, up to a minute.
//
// Placement is judged where the past is known exactly, while nothing has ended yet: a gang of Paddle's whose minimum is
// spread over racks although one had room for all of it, even after everything that was bound before it was whole and all
// gangs that were placed in the same session or in an earlier one, is a fault. A session says its name in the condition
// Scheduled of the PodGroups that it placed. Pods beyond the minimum are not judged: other gangs' minimums go before them.
package gangs
