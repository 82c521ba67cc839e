// SPDX-License-Identifier: Apache-2.0

package enqueue

import (
	"cmp"
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
	ssn         *framework.Session
	total, used *api.Resource // of the nodes; used has what is reserved for jobs that were admitted
	queues      map[api.QueueID]*api.QueueInfo
	accounts    map[api.QueueID]*account
}

// account is what the jobs of one queue have: all that is allocated; and what counts before another job is admitted, which is
// what they hold of their minimums and what is reserved for these.
type account struct{ allocated, reserved *api.Resource }

// NewAccounting counts what the jobs of a session have.
func NewAccounting(ssn *framework.Session) *Accounting {
	a := &Accounting{
		ssn: ssn, total: ssn.TotalResource, used: api.EmptyResource(), queues: ssn.Queues, accounts: map[api.QueueID]*account{},
	}
	for _, node := range ssn.Nodes {
		a.used.Add(node.Used)
	}
	for _, job := range ssn.Jobs {
		account, inqueue := a.account(job.Queue), inqueueOf(job)
		account.allocated.Add(job.Allocated)
		account.reserved.Add(api.ExceededPart(job.Allocated, job.GetElasticResources())).Add(inqueue)
		a.used.Add(inqueue)
	}
	return a
}

func (a *Accounting) account(queue api.QueueID) *account {
	if a.accounts[queue] == nil {
		a.accounts[queue] = &account{allocated: api.EmptyResource(), reserved: api.EmptyResource()}
	}
	return a.accounts[queue]
}

// inqueueOf returns what is reserved for a job beyond what it holds, as all three plugins compute it.
func inqueueOf(job *api.JobInfo) *api.Resource {
	group := job.PodGroup
	switch {
	case group.Spec.MinResources == nil:
	case group.Status.Phase == scheduling.PodGroupInqueue: // it may have got its nodes in this session
		return job.DeductSchGatedResources(api.ExceededPart(job.GetMinResources(), job.Allocated))
	case group.Status.Phase == scheduling.PodGroupRunning && util.CalculateAllocatedTaskNum(job) >= int(group.Spec.MinMember):
		return job.DeductSchGatedResources(util.GetInqueueResource(job, job.Allocated))
	}
	return api.EmptyResource()
}

// headroom is what a queue may use, or the whole cluster, and what of it is used.
type headroom struct {
	queue              string // "" for the cluster
	limit, used, total *api.Resource
}

// ofCluster returns the headroom that overcommit sees: it multiplies the cluster by a factor.
func (a *Accounting) ofCluster(factor float64) headroom {
	return headroom{limit: a.total.Clone().Multi(factor), used: a.used, total: a.total}
}

// ofQueue returns the headroom of a queue and all below it: they may use its capability, but not what is guaranteed to the queues
// beside it and beside those above it.
func (a *Accounting) ofQueue(queue *api.QueueInfo) headroom {
	h := headroom{queue: queue.Name, limit: a.total.Clone(), used: api.EmptyResource(), total: a.total}
	for id, account := range a.accounts {
		if slices.Contains(a.path(a.queues[id]), queue) {
			h.used.Add(account.reserved)
		}
	}
	path := a.path(queue)
	for _, other := range a.queues {
		if !slices.Contains(path, other) && slices.ContainsFunc(path, func(q *api.QueueInfo) bool { return parentOf(q) == parentOf(other) }) {
			h.limit = api.ExceededPart(h.limit, api.NewResource(other.Queue.Spec.Guarantee.Resource))
		}
	}
	if capability := api.NewResource(queue.Queue.Spec.Capability); len(queue.Queue.Spec.Capability) > 0 {
		for _, amount := range []*float64{&capability.MilliCPU, &capability.Memory} {
			if *amount <= 0 {
				*amount = math.MaxFloat64
			}
		}
		h.limit.MinDimensionResource(capability, api.Infinity)
	}
	return h
}

// path returns a queue and those above it, nearest first.
func (a *Accounting) path(queue *api.QueueInfo) (queues []*api.QueueInfo) {
	for queue != nil && len(queues) < len(a.queues) { // parents may form a circle
		queues = append(queues, queue)
		queue = a.queues[api.QueueID(parentOf(queue))]
	}
	return queues
}

// parentOf returns the name of the queue above one.
func parentOf(queue *api.QueueInfo) string {
	const root = "root"
	if queue.Name == root {
		return ""
	}
	return cmp.Or(queue.Queue.Spec.Parent, root)
}

// lacks returns the report of a job that requests more than is left, false if it does not. Where the cluster is the limit and
// not the queue, the report is about the cluster.
func (h headroom) lacks(reason report.Reason, requested *api.Resource) (report.Report, bool) {
	var first report.Shortage
	missing := &report.Missing{}
	for _, name := range report.SortResources(requested.ResourceNames()) {
		short := report.Shortage{Name: name, Requested: requested.Get(name), Available: h.limit.Get(name) - h.used.Get(name)}
		if name == corev1.ResourcePods || short.Requested <= short.Available {
			continue
		}
		if missing.Resources = append(missing.Resources, short.Resource()); first.Name == "" {
			first = short
		}
	}
	if first.Name == "" {
		return report.Report{}, false
	}
	r := report.Report{Reason: reason, Missing: missing}
	where := "the cluster"
	switch {
	case h.queue == "":
	case h.limit.Get(first.Name) >= h.total.Get(first.Name):
		r.Reason = report.InsufficientResources
	default:
		where = "queue " + h.queue
		r.Suggestions = []report.Suggestion{report.Suggest(report.RaiseQueueCapability, h.queue)}
	}
	if r.Message = first.Sentence(where, needs); first.Available > 0 {
		r.Suggestions = append(r.Suggestions, report.Suggest(report.LowerRequest, missing.Resources[0].Available+" of "+string(first.Name)))
	}
	return r, true
}

// needs follows what a job asks for.
const needs = "the job needs"

// FullQueue returns the report of an admitted job whose queue starts no more pods. requested is what its missing pods request.
func (a *Accounting) FullQueue(queue *api.QueueInfo, requested *api.Resource) report.Report {
	h := a.ofQueue(queue)
	h.used = a.account(queue.UID).allocated // for pods, all that is allocated counts, and jobs that wait do not
	if r, short := h.lacks(report.QueueCapacity, requested); short {
		return r
	}
	return report.Report{
		Reason: report.QueueOverused, Value: queue.Name, Suggestions: []report.Suggestion{report.Suggest(report.UseAnotherQueue, queue.Name)},
	}
}
