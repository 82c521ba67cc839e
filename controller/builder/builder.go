// SPDX-License-Identifier: Apache-2.0

package builder

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
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
	// AnnouncePodIPs gives each pod its IPv4 address in an annotation, for clusters in which the first of a pod's addresses
	// is IPv6.
	AnnouncePodIPs bool
	// BarrierImage is the image of the first init container of jobs with several pods, which ends when they can find each
	// other; empty switches that off.
	BarrierImage string
	// BarrierPullSecrets are names of Secrets of the job's namespace for the registry of that image.
	BarrierPullSecrets []string
	// BarrierTimeout is how long they wait at most.
	BarrierTimeout time.Duration
	// SchedulerName is the scheduler of the pods; empty means DefaultScheduler.
	SchedulerName string
}

// DefaultScheduler is Volcano's own name for its scheduler.
const DefaultScheduler = "volcano"

// Scheduler returns the name of the scheduler of the pods.
func (c Config) Scheduler() string { return cmp.Or(c.SchedulerName, DefaultScheduler) }

// PodGroupOverrides is what a PodGroup that the user created under the PaddleJob's own name requests; fields of
// spec.schedulingPolicy that are set take precedence.
type PodGroupOverrides struct {
	MinMember         int32
	Queue             string
	PriorityClassName string
	// NamespaceQueue is the queue of jobs in the namespace that name none, "" for Volcano's default queue.
	NamespaceQueue string
}

// Cause is something to report to the user: a reason in CamelCase and a sentence that says what to change.
type Cause struct {
	Reason  string
	Message string
}

// Messages returns the messages of several causes as one.
func Messages(causes []Cause) string {
	lines := make([]string, len(causes))
	for i := range causes {
		lines[i] = causes[i].Message
	}
	return strings.Join(lines, "; ")
}

// Addresses are the host parts of the pods' endpoints by role, in index order.
type Addresses map[string][]string

// Role is one role that a job has.
type Role struct {
	Name string
	Spec *v1.ResourceSpec
}

// Roles returns the roles that a job has, in the order of the constants.
func Roles(job *v1.PaddleJob) []Role {
	all := []Role{{RolePS, job.Spec.PS}, {RoleWorker, job.Spec.Worker}, {RoleHeter, job.Spec.Heter}}
	return slices.DeleteFunc(all, func(r Role) bool { return r.Spec == nil })
}

// field returns the path of the role in a PaddleJob.
func (r Role) field() string { return "spec." + r.Name }

// trainingRoles are what Paddle's role makers read from TRAINING_ROLE.
var trainingRoles = map[string]string{RolePS: "PSERVER", RoleWorker: "TRAINER", RoleHeter: "HETER_TRAINER"}

// replicas is the role's size.
func (r Role) replicas() int32 {
	return max(r.Spec.Replicas, 0)
}

// Mode is how the job trains: with ps it is PS, else the number of workers decides (paddle-operator's rule).
// An elastic job is collective also while it has one worker.
func Mode(job *v1.PaddleJob) v1.Mode {
	switch {
	case job.Spec.PS != nil:
		return v1.ModePS
	case job.Spec.Worker != nil && (job.Spec.Worker.Replicas > 1 || Elastic(job)):
		return v1.ModeCollective
	}
	return v1.ModeSingle
}

// Intranet is how the job's pods reach each other: its own choice, else the controller's default, else PodIP.
func Intranet(job *v1.PaddleJob, cfg Config) v1.Intranet {
	if intranet := cmp.Or(job.Spec.Intranet, cfg.DefaultIntranet); intranet == v1.Service || intranet == v1.Host {
		return intranet
	}
	return v1.PodIP // also for what does not exist: paddle-operator's rule
}

// podName is the name that Volcano gives a pod of a Job: {job}-{task}-{index}.
func podName(job, role string, index int) string {
	return job + "-" + role + "-" + strconv.Itoa(index)
}

// maxListBytes is how long a list in a variable may be. Linux refuses to start a program with a variable of more than
// 32 pages of 4 KiB (MAX_ARG_STRLEN), its name included, for which some space is left.
const maxListBytes = 128<<10 - 64

// MaxPods returns how many pods a role of a job can have so that the lists of them fit into a variable each. These are the controller's of endpoints,
// and the one of host names that Volcano's svc plugin gives every container (VC_{ROLE}_HOSTS).
func MaxPods(job *v1.PaddleJob, role string, cfg Config) int {
	most := 0
	for digits, count := 1, 10; digits <= 6; digits, count = digits+1, count*10 {
		host := len(podName(job.Name, role, 0)) - 1 + digits + len(".") + len(job.Name)
		entry := max(host, len("255.255.255.255:")+len(strconv.Itoa(firstPort)))
		if Intranet(job, cfg) == v1.Service {
			entry = host + len(":") + len(strconv.Itoa(firstPort))
		}
		most = max(most, min(count, maxListBytes/(entry+len(","))))
	}
	return most
}
