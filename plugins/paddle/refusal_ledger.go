// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"volcano.sh/apis/pkg/apis/scheduling"
	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/framework"
	"volcano.sh/volcano/pkg/scheduler/plugins/util"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
)

// ledger is what Volcano's overcommit, proportion and capacity count before they let a job in. They keep that to
// themselves, so it is counted once more.
type ledger struct {
	total, used *api.Resource // of the nodes
	promised    *api.Resource // to jobs that were let in and hold less than their minimum
	guaranteed  *api.Resource // to queues
	accounts    map[api.QueueID]*queueAccount
	queues      map[api.QueueID]*api.QueueInfo
	least       func(*api.JobInfo) *api.Resource // what a job that is let in is promised
}

// queueAccount is what the jobs of one queue have: allocated, of it beyond their minimums, and promised.
type queueAccount struct{ allocated, elastic, promised *api.Resource }

func newQueueAccount() *queueAccount {
	return &queueAccount{allocated: api.EmptyResource(), elastic: api.EmptyResource(), promised: api.EmptyResource()}
}

func newLedger(ssn *framework.Session) *ledger {
	return newLedgerBy(ssn, (*api.JobInfo).GetMinResources)
}

// newLedgerBy promises to jobs what least says.
func newLedgerBy(ssn *framework.Session, least func(*api.JobInfo) *api.Resource) *ledger {
	l := &ledger{
		total: ssn.TotalResource, used: api.EmptyResource(), promised: api.EmptyResource(), guaranteed: api.EmptyResource(),
		accounts: map[api.QueueID]*queueAccount{}, queues: ssn.Queues, least: least,
	}
	for _, node := range ssn.Nodes {
		l.used.Add(node.Used)
	}
	for _, queue := range ssn.Queues {
		l.guaranteed.Add(api.NewResource(queue.Queue.Spec.Guarantee.Resource))
	}
	for _, job := range ssn.Jobs {
		account := l.account(job.Queue)
		account.allocated.Add(job.Allocated)
		account.elastic.Add(job.GetElasticResources())
		l.promise(job, promisedTo(job, least))
	}
	return l
}

func (l *ledger) account(queue api.QueueID) *queueAccount {
	if l.accounts[queue] == nil {
		l.accounts[queue] = newQueueAccount()
	}
	return l.accounts[queue]
}

// letIn enters a job that is let in now.
func (l *ledger) letIn(job *api.JobInfo) {
	l.promise(job, job.DeductSchGatedResources(l.least(job)))
}

func (l *ledger) promise(job *api.JobInfo, amount *api.Resource) {
	l.promised.Add(amount)
	l.account(job.Queue).promised.Add(amount)
}

// promisedTo is what is kept for a job, as all three plugins have it where least is the job's minimum.
func promisedTo(job *api.JobInfo, least func(*api.JobInfo) *api.Resource) *api.Resource {
	group := job.PodGroup
	switch {
	case group.Spec.MinResources == nil:
	case group.Status.Phase == scheduling.PodGroupInqueue:
		return job.DeductSchGatedResources(least(job))
	case group.Status.Phase == scheduling.PodGroupRunning && util.CalculateAllocatedTaskNum(job) >= int(group.Spec.MinMember):
		return job.DeductSchGatedResources(util.GetInqueueResource(job, job.Allocated))
	}
	return api.EmptyResource()
}

// room is how much of each resource there may be, is used, and is promised, and where.
type room struct {
	limit, used, promised func(corev1.ResourceName) float64
	where                 func(corev1.ResourceName) string
}

const theCluster = "the cluster"

func inTheCluster(corev1.ResourceName) string { return theCluster }

// left is what is not used and not promised; it may be below 0.
func (r room) left(name corev1.ResourceName) float64 {
	return r.limit(name) - r.used(name) - r.promised(name)
}

// lacking are the resources of which more is asked for than is left, scarcest first.
func (r room) lacking(asked *api.Resource) (names []corev1.ResourceName) {
	for _, name := range report.SortResources(asked.ResourceNames()) {
		if asked.Get(name) > r.left(name) {
			names = append(names, name)
		}
	}
	return names
}

// ofCluster is the room that overcommit sees: it counts the cluster as larger than it is, by a factor.
func (l *ledger) ofCluster(factor float64) room {
	return room{
		limit:    func(name corev1.ResourceName) float64 { return l.total.Get(name) * factor },
		used:     l.used.Get,
		promised: l.promised.Get,
		where:    inTheCluster,
	}
}

// ofQueue is the room that proportion sees, and capacity where queues have no parents: a queue may use its capability,
// but not what is guaranteed to others. Where neither is the limit, the cluster is.
func (l *ledger) ofQueue(queue *api.QueueInfo) room {
	limit := api.ExceededPart(l.total, l.guaranteed).Add(api.NewResource(queue.Queue.Spec.Guarantee.Resource))
	return l.within(queue, limit, l.account(queue.UID))
}

// ofBranch is the room in a queue and all below it, where queues have parents. What is guaranteed to others is not taken
// off, so it may be less.
func (l *ledger) ofBranch(queue *api.QueueInfo) room {
	sum := newQueueAccount()
	for id, account := range l.accounts {
		if slices.Contains(l.branch(l.queues[id]), queue) {
			sum.allocated.Add(account.allocated)
			sum.elastic.Add(account.elastic)
			sum.promised.Add(account.promised)
		}
	}
	return l.within(queue, l.total.Clone(), sum)
}

// branch is a queue and those above it, nearest first.
func (l *ledger) branch(queue *api.QueueInfo) (branch []*api.QueueInfo) {
	for queue != nil && len(branch) < len(l.queues) { // parents in a circle are an error of the administrator's
		branch = append(branch, queue)
		queue = l.queues[api.QueueID(queue.Queue.Spec.Parent)]
	}
	return branch
}

// within is the room for what an account has, up to a limit and the queue's capability.
func (l *ledger) within(queue *api.QueueInfo, limit *api.Resource, account *queueAccount) room {
	if capability := api.NewResource(queue.Queue.Spec.Capability); len(queue.Queue.Spec.Capability) > 0 {
		for _, amount := range []*float64{&capability.MilliCPU, &capability.Memory} {
			if *amount <= 0 {
				*amount = math.MaxFloat64
			}
		}
		limit.MinDimensionResource(capability, api.Infinity)
	}
	return room{
		limit: limit.Get,
		used: func(name corev1.ResourceName) float64 {
			return account.allocated.Get(name) - account.elastic.Get(name)
		},
		promised: account.promised.Get,
		where: func(name corev1.ResourceName) string {
			if limit.Get(name) >= l.total.Get(name) {
				return theCluster
			}
			return "queue " + queue.Name
		},
	}
}

func nothingPromised(corev1.ResourceName) float64 { return 0 }
