// SPDX-License-Identifier: Apache-2.0

// Package gangs watches from outside, through the API, how gangs are bound on a sandbox of 500 nodes, or of 100 unless
// everything is tested; it holds tests only.
//
// TestGangsAreBoundWhole submits 200 jobs, or 40, of many kinds at once to the shipped components. The cluster has less free
// capacity than they request. The test waits until each gang is bound or has a reason why it waits. Then it lets the running pods
// end, until each gang was bound. Pods run until then, so that the cluster is full however slow the machine is. Some jobs fit no
// rack and may not leave one, so that some pods always wait. The test does not sleep or poll: it reads two watches, on pods and on
// PodGroups.
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
// It is also a fault if a gang was partly bound for more than 5 seconds and was overtaken: another gang began at least 5 seconds
// later and was whole first. The 5 seconds count by the arrival of the watch's events, and by the API server's timestamps in the
// condition PodScheduled. If no gang overtook it, the API server was slow for all, which is only logged, up to a minute.
//
// Placement is checked while no pod has finished, because the free capacity is known exactly then. It is a fault if the minimum of a
// Paddle gang is spread over racks although one rack had enough free capacity. Pods that were bound before the gang was whole, and
// gangs that were placed in the same or an earlier session, count as used capacity. The condition Scheduled of a PodGroup names the
// session that placed it. Pods beyond the minimum are not checked: other gangs' minimums go before them.
package gangs
