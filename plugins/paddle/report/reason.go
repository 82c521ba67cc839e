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

type text struct {
	// sentence has the placeholders {objects}, {nodes} and {value}. It is empty where whoever finds the reason writes it.
	sentence string
	// help is what a user can do. {Kind:words} stands for the suggestion of that kind, and for the words where there is none.
	help string
}

// gangPort is the sentence of HostPortConflict where the gang's own pods take the port.
const gangPort = "each pod takes host port {value} and so needs a node of its own, and only {nodes} can take one each"

var texts = map[Reason]text{
	WaitingToBeEnqueued: {"queue {value} has not admitted the job yet; nothing rejects it", "wait a moment; if it stays so, ask an administrator whether the scheduler's action enqueue is enabled"},
	QueueClosed:         {"queue {value} is not open: it admits no job and starts no pods", "{OpenQueue:have the queue opened}, or {UseAnotherQueue:use another queue} (spec.schedulingPolicy.queue)"},
	QueueCapacity:       {"", "wait for other jobs of the queue to end, {LowerRequest:request less}, use another queue, or {RaiseQueueCapability:have the queue's capability raised}"},
	ParentQueueCapacity: {"", "wait for other jobs below the parent queue to end, {LowerRequest:request less}, use another queue, or {RaiseQueueCapability:have the parent queue's capability raised}"},
	QueueNotLeaf:        {"queue {value} has child queues, and only these admit jobs", "{UseAnotherQueue:use another queue}, such as one of its child queues (spec.schedulingPolicy.queue)"},
	ResourceQuota:       {"", "wait for other jobs of the namespace to end, request less, or {RaiseResourceQuota:have the namespace's ResourceQuota raised}"},
	Overcommit:          {"", "{LowerRequest:request less}, or wait for other jobs to end; waiting does not help a job that requests more than the whole cluster"},
	RefusedByPlugin:     {"plugins of the scheduler refuse {nodes}: {value}", "ask an administrator about that plugin of the scheduler"},

	WaitingForPods:     {"no pod of the gang is started before", "wait a moment; if it stays so, quotas or policies of the namespace may forbid pods: see the events of the Volcano Job"},
	SchedulingGated:    {"scheduling gates hold pods back ({value})", "{RemoveSchedulingGate:remove the scheduling gates from the pods}, or wait until whoever added them does"},
	QueueOverused:      {"queue {value} has used up its share of the cluster", "wait for other jobs to end, {UseAnotherQueue:use another queue}, or have the queue's weight or deserved resources raised"},
	UnknownTier:        {"", "correct spec.schedulingPolicy.networkTopology: the cluster has no such tier"},
	TopologyNotReady:   {"the scheduler has not read the cluster's HyperNodes yet, and the job has a networkTopology", "wait: the scheduler is still reading the cluster's topology"},
	TerminatingPods:    {"the gang fits once terminating pods are gone", "wait: the job starts by itself when the terminating pods are gone"},
	AssignmentOutdated: {"the gang fits by now", "wait: the scheduler tries again each second"},
	AssignmentNotFound: {"", "wait: the scheduler tries again each second"},
	NoReadyNodes:       {"the cluster has no node that is ready", "ask an administrator: no node of the cluster is ready (kubectl get nodes)"},

	PersistentVolumeClaimNotFound: {"{objects} does not exist", "if the name is wrong, correct claimName in the volumes of the pod template"},
	PersistentVolumeClaimUnbound:  {"{objects} is not bound to a PersistentVolume", "kubectl describe pvc says why; a PersistentVolume of its class, size and access mode binds it, and so does a provisioner that works"},
	StorageClassNotFound:          {"StorageClass {value} does not exist, so that claims of it cannot be bound", "if the name is wrong, create the claim again with a StorageClass that exists (kubectl get storageclass)"},
	ResourceClaimNotFound:         {"{objects} does not exist", "if the name is wrong, correct resourceClaims in the pod template"},
	ResourceClaimNotAllocatable:   {"the devices for {objects} are free on none of {nodes}", "wait for other jobs to end, or claim fewer devices; kubectl get resourceslices lists what there is"},

	InsufficientResources: {"one pod requests more {value} than is free on {nodes}", "wait for other jobs to end, or {LowerRequest:request less}"},
	TooManyPods:           {"the limit of pods is reached on {nodes}", "wait for other pods to end, or have the kubelet's maxPods raised"},
	NodeAffinity:          {"the node selector or node affinity of the pods ({value}) matches {nodes}, which is too few", "correct nodeSelector or nodeAffinity in the pod template, or {ChangeNodeSelector:label nodes}"},
	NodeUnschedulable:     {"cordons exclude {nodes}", "ask an administrator to {Uncordon:uncordon nodes}"},
	UntoleratedTaint:      {"the taint {value} is on {nodes}, and the pods do not tolerate it", "{AddToleration:add the toleration to the pod template}, or ask an administrator to {RemoveTaint:remove the taint}"},
	HostPortConflict:      {"host port {value} is in use on {nodes}", "{ChangeHostPort:use another hostPort, or wait until the port is free}"},
	VolumeNodeAffinity:    {"the volumes of the pods cannot be used on {nodes}", "have the job use volumes that are available where its nodes are, or wait for nodes near the volumes"},
	PodAntiAffinity:       {"anti-affinity between the pods and pods of others excludes {nodes}", "wait for those other pods to end, or have one of the two anti-affinity rules (requiredDuringScheduling) removed"},
	GangAntiAffinity:      {"the pods exclude each other by anti-affinity (topologyKey {value}), and only {nodes} can take one each", "ask for fewer replicas, make the anti-affinity preferred, or add nodes"},
	PodAffinity:           {"the required pod affinity of the pods is not met on {nodes}", "start the pods that it asks for, or correct podAffinity in the pod template"},
	TopologySpread:        {"the pods would break their topology spread constraints on {nodes}", "raise maxSkew, use whenUnsatisfiable ScheduleAnyway, or wait for other nodes"},
	TopologyConstraint:    {"", "wait for other jobs to end{AllowTier:, or allow a wider spec.schedulingPolicy.networkTopology}"},
	ColocationConstraint:  {"", "wait for other jobs to end{AllowColocationPreferred:, or set spec.schedulingPolicy.colocation to Preferred}"},
}
