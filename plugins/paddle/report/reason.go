// SPDX-License-Identifier: Apache-2.0

package report

// Reason is why a gang waits. The reasons are public: they are the reasons of conditions and events, and labels of metrics.
type Reason string

// Placed is the reason of a gang that has its nodes.
const Placed Reason = "Placed"

// Before the gang is admitted (PodGroup phase Inqueue).
const (
	WaitingToBeEnqueued Reason = "WaitingToBeEnqueued" // nothing has refused the gang so far
	QueueClosed         Reason = "QueueClosed"
	QueueCapacity       Reason = "QueueCapacity"       // the queue's capability is used up
	ParentQueueCapacity Reason = "ParentQueueCapacity" // that of a queue above it
	QueueNotLeaf        Reason = "QueueNotLeaf"        // the queue has child queues
	ResourceQuota       Reason = "ResourceQuota"       // of the namespace
	Overcommit          Reason = "Overcommit"          // admitted jobs request more than the cluster has
	RefusedByPlugin     Reason = "RefusedByPlugin"     // another plugin of the scheduler refuses the gang, or its nodes
)

// Once the gang is admitted, other than nodes.
const (
	WaitingForPods     Reason = "WaitingForPods" // pods of the gang do not exist yet
	SchedulingGated    Reason = "SchedulingGated"
	QueueOverused      Reason = "QueueOverused" // the queue has its share of the cluster
	UnknownTier        Reason = "UnknownTier"
	TopologyNotReady   Reason = "TopologyNotReady"
	TerminatingPods    Reason = "TerminatingPods" // the gang fits once pods have terminated
	AssignmentOutdated Reason = "AssignmentOutdated"
	AssignmentNotFound Reason = "AssignmentNotFound"
	NoReadyNodes       Reason = "NoReadyNodes"
	InvalidAnnotation  Reason = "InvalidAnnotation" // of events only
)

// Objects that pods name.
const (
	PersistentVolumeClaimNotFound Reason = "PersistentVolumeClaimNotFound"
	PersistentVolumeClaimUnbound  Reason = "PersistentVolumeClaimUnbound"
	StorageClassNotFound          Reason = "StorageClassNotFound"
	ResourceClaimNotFound         Reason = "ResourceClaimNotFound"
	ResourceClaimNotAllocatable   Reason = "ResourceClaimNotAllocatable"
)

// Nodes.
const (
	InsufficientResources Reason = "InsufficientResources"
	TooManyPods           Reason = "TooManyPods"
	NodeAffinity          Reason = "NodeAffinity"
	NodeUnschedulable     Reason = "NodeUnschedulable"
	UntoleratedTaint      Reason = "UntoleratedTaint"
	HostPortConflict      Reason = "HostPortConflict"
	VolumeNodeAffinity    Reason = "VolumeNodeAffinity"
	PodAntiAffinity       Reason = "PodAntiAffinity"  // between the gang and other pods
	GangAntiAffinity      Reason = "GangAntiAffinity" // between the gang's own pods
	PodAffinity           Reason = "PodAffinity"
	TopologySpread        Reason = "TopologySpread"
	TopologyConstraint    Reason = "TopologyConstraint"   // networkTopology
	ColocationConstraint  Reason = "ColocationConstraint" // servers and workers
)

// Transient reports whether gangs often wait for the reason for a moment on the way to their nodes.
func (r Reason) Transient() bool {
	switch r {
	case WaitingToBeEnqueued, WaitingForPods, AssignmentOutdated, TerminatingPods:
		return true
	}
	return false
}
