// SPDX-License-Identifier: Apache-2.0

package render

import (
	"cmp"
	"time"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
)

// Roles in the order in which every list of this package has them; they are the names of the Volcano Job's tasks.
const (
	RolePS     = "ps"
	RoleWorker = "worker"
	RoleHeter  = "heter"
)

// Config is what the controller's flags decide about rendering.
type Config struct {
	// DefaultIntranet is what an empty spec.intranet means: PodIP or Service.
	DefaultIntranet v1.Intranet
	// ElasticEtcd is the host:port of the etcd of elastic jobs that name none; empty means there is none.
	ElasticEtcd string
	// HostPorts are the ports of nodes that jobs with intranet Host may use; none means DefaultHostPorts.
	HostPorts Ports
	// AnnouncePodIPs tells each pod its IPv4 address by an annotation, for clusters in which the first of a pod's addresses
	// is IPv6.
	AnnouncePodIPs bool
	// BarrierImage is what pods of jobs with several pods run before all else, so that they start when they can find each
	// other; empty switches that off.
	BarrierImage string
	// BarrierTimeout is how long they wait at most.
	BarrierTimeout time.Duration
	// SchedulerName is the scheduler of the pods; empty means DefaultScheduler.
	SchedulerName string
}

// DefaultScheduler is Volcano's own name for its scheduler.
const DefaultScheduler = "volcano"

func (c Config) scheduler() string { return cmp.Or(c.SchedulerName, DefaultScheduler) }

// Wish is what a PodGroup that the user made under the PaddleJob's own name asks for; fields of
// spec.schedulingPolicy that are set win over it.
type Wish struct {
	MinMember         int32
	Queue             string
	PriorityClassName string
	// NamespaceQueue is the queue of jobs in the namespace that name none, "" for Volcano's default queue.
	NamespaceQueue string
}

// Notice is something to tell the user: a reason in CamelCase and a sentence that says what to change.
type Notice struct {
	Reason  string
	Message string
}

// Addresses are the host parts of the pods' endpoints by role, in index order.
type Addresses map[string][]string
