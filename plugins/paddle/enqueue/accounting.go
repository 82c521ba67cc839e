// SPDX-License-Identifier: Apache-2.0

package enqueue

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

// Accounting counts what Volcano's overcommit, proportion and capacity count before they admit a job. They do not publish it.
type Accounting struct {
	total, used *api.Resource // of the nodes
	inqueue     *api.Resource // of jobs that were admitted and hold less than their minimum
	guaranteed  *api.Resource // of queues
	accounts    map[api.QueueID]*queueAccount
	queues      map[api.QueueID]*api.QueueInfo
}

// queueAccount is what the jobs of one queue have: allocated, of that beyond their minimums, and inqueue.
type queueAccount struct{ allocated, elastic, inqueue *api.Resource }

func newQueueAccount() *queueAccount {
	return &queueAccount{allocated: api.EmptyResource(), elastic: api.EmptyResource(), inqueue: api.EmptyResource()}
}

// NewAccounting counts what the jobs of a session have.
func NewAccounting(ssn *framework.Session) *Accounting {
	a := &Accounting{
		total: ssn.TotalResource, used: api.EmptyResource(), inqueue: api.EmptyResource(), guaranteed: api.EmptyResource(),
		accounts: map[api.QueueID]*queueAccount{}, queues: ssn.Queues,
	}
	for _, node := range ssn.Nodes {
		a.used.Add(node.Used)
	}
	for _, queue := range ssn.Queues {
		a.guaranteed.Add(api.NewResource(queue.Queue.Spec.Guarantee.Resource))
	}
	for _, job := range ssn.Jobs {
		account := a.account(job.Queue)
		account.allocated.Add(job.Allocated)
		account.elastic.Add(job.GetElasticResources())
		a.add(job, inqueueOf(job))
	}
	return a
}

func (a *Accounting) account(queue api.QueueID) *queueAccount {
	if a.accounts[queue] == nil {
		a.accounts[queue] = newQueueAccount()
	}
	return a.accounts[queue]
}

// admit adds a job that is admitted now.
func (a *Accounting) admit(job *api.JobInfo) {
	a.add(job, job.DeductSchGatedResources(job.GetMinResources()))
}

func (a *Accounting) add(job *api.JobInfo, inqueue *api.Resource) {
	a.inqueue.Add(inqueue)
	a.account(job.Queue).inqueue.Add(inqueue)
}

// inqueueOf returns what is reserved for a job, as all three plugins compute it.
func inqueueOf(job *api.JobInfo) *api.Resource {
	group := job.PodGroup
	switch {
	case group.Spec.MinResources == nil:
	case group.Status.Phase == scheduling.PodGroupInqueue:
		return job.DeductSchGatedResources(job.GetMinResources())
	case group.Status.Phase == scheduling.PodGroupRunning && util.CalculateAllocatedTaskNum(job) >= int(group.Spec.MinMember):
		return job.DeductSchGatedResources(util.GetInqueueResource(job, job.Allocated))
	}
	return api.EmptyResource()
}

// headroom is a limit of each resource, what of it is used and reserved, and the name of whatever has the limit.
type headroom struct {
	limit, used, inqueue func(corev1.ResourceName) float64
	where                func(corev1.ResourceName) string
}

const theCluster = "the cluster"

// left returns what is not used and not reserved. It may be negative.
func (h headroom) left(name corev1.ResourceName) float64 {
	return h.limit(name) - h.used(name) - h.inqueue(name)
}

// lacking returns the resources of which more is requested than is left, the scarcest first.
func (h headroom) lacking(requested *api.Resource) (names []corev1.ResourceName) {
	for _, name := range report.SortResources(requested.ResourceNames()) {
		if requested.Get(name) > h.left(name) {
			names = append(names, name)
		}
	}
	return names
}

// ofCluster returns the headroom that overcommit sees: it multiplies the cluster by a factor.
func (a *Accounting) ofCluster(factor float64) headroom {
	return headroom{
		limit: func(name corev1.ResourceName) float64 { return a.total.Get(name) * factor },
		used:  a.used.Get, inqueue: a.inqueue.Get,
		where: func(corev1.ResourceName) string { return theCluster },
	}
}

// ofQueue returns the headroom that proportion sees, and capacity without a hierarchy: a queue may use its capability, but not
// what is guaranteed to others. If neither is the limit, the cluster is.
func (a *Accounting) ofQueue(queue *api.QueueInfo) headroom {
	limit := api.ExceededPart(a.total, a.guaranteed).Add(api.NewResource(queue.Queue.Spec.Guarantee.Resource))
	return a.within(queue, limit, a.account(queue.UID))
}

// ofSubtree returns the headroom of a queue and all below it. What is guaranteed to others is not deducted, so there may be
// less.
func (a *Accounting) ofSubtree(queue *api.QueueInfo) headroom {
	sum := newQueueAccount()
	for id, account := range a.accounts {
		if slices.Contains(a.ancestors(a.queues[id]), queue) {
			sum.allocated.Add(account.allocated)
			sum.elastic.Add(account.elastic)
			sum.inqueue.Add(account.inqueue)
		}
	}
	return a.within(queue, a.total.Clone(), sum)
}

// ancestors returns a queue and those above it, nearest first.
func (a *Accounting) ancestors(queue *api.QueueInfo) (queues []*api.QueueInfo) {
	for queue != nil && len(queues) < len(a.queues) { // parents may form a circle
		queues = append(queues, queue)
		queue = a.queues[api.QueueID(queue.Queue.Spec.Parent)]
	}
	return queues
}

// within returns the headroom of an account, up to a limit and the queue's capability.
func (a *Accounting) within(queue *api.QueueInfo, limit *api.Resource, account *queueAccount) headroom {
	if capability := api.NewResource(queue.Queue.Spec.Capability); len(queue.Queue.Spec.Capability) > 0 {
		for _, amount := range []*float64{&capability.MilliCPU, &capability.Memory} {
			if *amount <= 0 {
				*amount = math.MaxFloat64
			}
		}
		limit.MinDimensionResource(capability, api.Infinity)
	}
	return headroom{
		limit:   limit.Get,
		used:    func(name corev1.ResourceName) float64 { return account.allocated.Get(name) - account.elastic.Get(name) },
		inqueue: account.inqueue.Get,
		where: func(name corev1.ResourceName) string {
			if limit.Get(name) >= a.total.Get(name) {
				return theCluster
			}
			return "queue " + queue.Name
		},
	}
}
