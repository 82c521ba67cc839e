// SPDX-License-Identifier: Apache-2.0

// Package enqueue finds out why Volcano does not admit a job (PodGroup phase Inqueue), before which the job has no pods.
package enqueue

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"
	"volcano.sh/apis/pkg/apis/scheduling"
	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/conf"
	"volcano.sh/volcano/pkg/scheduler/framework"
	"volcano.sh/volcano/pkg/scheduler/plugins/util"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
)

// Raised is the PodGroups of a session whose minResources are raised as long as it votes, so that Volcano's own plugins count
// them. A user cannot write them there: Volcano's Job controller computes them from the templates and overwrites them.
type Raised struct {
	others map[*api.PodGroup]*corev1.ResourceList // what a PodGroup does not have now: its own minResources while they are raised
	raised bool
}

// Add raises the minResources of a job's PodGroup.
func (r *Raised) Add(job *api.JobInfo, least *api.Resource) {
	had := job.PodGroup.Spec.MinResources
	list := maps.Clone(*had)
	minimum := job.GetMinResources()
	for _, name := range least.ResourceNames() {
		if amount := least.Get(name); amount > minimum.Get(name) {
			list[name] = resource.MustParse(report.Quantity(name, amount))
		}
	}
	if r.others == nil {
		r.others = map[*api.PodGroup]*corev1.ResourceList{}
	}
	job.PodGroup.Spec.MinResources, r.others[job.PodGroup], r.raised = &list, had, true
}

// Set raises the minResources of all PodGroups that were added, or restores them. They must not be raised when allocate
// places pods, and when the session writes PodGroups.
func (r *Raised) Set(raised bool) {
	if r.raised == raised {
		return
	}
	for group, other := range r.others {
		r.others[group], group.Spec.MinResources = group.Spec.MinResources, other
	}
	r.raised = raised
}

// Plugins that reject jobs, and the argument of one of them, as in Volcano's pkg/scheduler/plugins.
const (
	pluginOvercommit    = "overcommit"
	pluginProportion    = "proportion"
	pluginCapacity      = "capacity"
	pluginResourceQuota = "resourcequota"

	argOvercommitFactor     = "overcommit-factor"
	defaultOvercommitFactor = 1.2
)

type candidate struct {
	queue     *api.QueueInfo
	namespace string
	requested *api.Resource       // what must be free
	listed    corev1.ResourceList // the same as Volcano's Job controller lists it
}

// WhyRejected returns why the queue has not admitted a job in this session. Volcano does not say which plugin rejected the job:
// what the plugins count is counted again, in the order in which they vote.
func (a *Accounting) WhyRejected(job *api.JobInfo) report.Report {
	queue, listed := a.queues[job.Queue], job.PodGroup.Spec.MinResources
	var voters []*conf.PluginOption
	for _, tier := range a.ssn.Tiers {
		for i := range tier.Plugins {
			if ptr.Deref(tier.Plugins[i].EnabledJobEnqueued, false) {
				voters = append(voters, &tier.Plugins[i])
			}
		}
	}
	if listed == nil || !conf.EnabledActionMap["enqueue"] {
		return report.Report{Reason: report.WaitingToBeEnqueued, Value: queue.Name}
	}
	knowsQueues := func(plugin *conf.PluginOption) bool {
		return plugin.Name == pluginProportion || plugin.Name == pluginCapacity
	}
	if r, closed := ClosedQueue(queue); closed && slices.ContainsFunc(voters, knowsQueues) {
		return r
	}
	c := &candidate{queue: queue, namespace: job.Namespace, requested: job.GetMinResources(), listed: *listed}
	for _, plugin := range voters {
		if r, rejects := c.rejectedBy(plugin, a); rejects {
			return r
		}
	}
	return report.Report{Reason: report.RefusedByPlugin, Message: "a plugin of the scheduler rejects the job"}
}

// rejectedBy returns why a plugin rejects the job, false if it does not by this package's count.
func (c *candidate) rejectedBy(plugin *conf.PluginOption, a *Accounting) (report.Report, bool) {
	switch plugin.Name {
	case pluginOvercommit:
		return a.ofCluster(overcommitFactor(plugin.Arguments)).lacks(report.Overcommit, c.requested)
	case pluginProportion:
		return c.fullQueue(a, false)
	case pluginCapacity:
		return c.fullQueue(a, ptr.Deref(plugin.EnabledHierarchy, false))
	case pluginResourceQuota:
		if info := a.ssn.NamespaceInfo[api.NamespaceName(c.namespace)]; info != nil {
			return c.exceeded(info.QuotaStatus)
		}
	}
	return report.Report{}, false
}

// fullQueue returns which of the queue and, in a hierarchy, those above it is full.
func (c *candidate) fullQueue(a *Accounting, hierarchy bool) (report.Report, bool) {
	queues := []*api.QueueInfo{c.queue}
	if hierarchy {
		queues = a.path(c.queue)
		for _, other := range a.queues {
			if parentOf(other) == c.queue.Name {
				return report.Report{
					Reason: report.QueueNotLeaf, Value: c.queue.Name,
					Suggestions: []report.Suggestion{report.Suggest(report.UseAnotherQueue, c.queue.Name)},
				}, true
			}
		}
	}
	reason := report.QueueCapacity
	for _, queue := range queues {
		if r, short := a.ofQueue(queue).lacks(reason, c.requested); short {
			return r, true
		}
		reason = report.ParentQueueCapacity
	}
	return report.Report{}, false
}

// exceeded returns by how much the job exceeds the first ResourceQuota that it does. Quotas limit requests by names such as
// cpu and requests.cpu, and Volcano's Job controller lists the minimum under all of them.
func (c *candidate) exceeded(quotas map[string]corev1.ResourceQuotaStatus) (report.Report, bool) {
	r := report.Report{Reason: report.ResourceQuota, Missing: &report.Missing{}}
	for _, name := range slices.Sorted(maps.Keys(quotas)) {
		quota := quotas[name]
		for _, limited := range slices.Sorted(maps.Keys(quota.Hard)) {
			requested, left := c.listed[limited], quota.Hard[limited].DeepCopy()
			if left.Sub(quota.Used[limited]); requested.IsZero() || requested.Cmp(left) <= 0 {
				continue
			}
			plain := corev1.ResourceName(strings.TrimPrefix(strings.TrimPrefix(string(limited), "requests."), "limits."))
			amount := func(q resource.Quantity) float64 { return api.NewResource(corev1.ResourceList{plain: q}).Get(plain) }
			short := report.Shortage{Name: plain, Available: amount(left), Requested: amount(requested)}
			missing := short.Resource()
			missing.Name = string(limited)
			if r.Missing.Resources = append(r.Missing.Resources, missing); r.Message == "" {
				r.Message = short.Sentence("resource quota "+name+" of namespace "+c.namespace, needs)
				r.Suggestions = []report.Suggestion{report.Suggest(report.RaiseResourceQuota, name)}
			}
		}
		if r.Message != "" {
			return r, true
		}
	}
	return r, false
}

// ClosedQueue returns the report of a job whose queue is not open, false if it is.
func ClosedQueue(queue *api.QueueInfo) (report.Report, bool) {
	return report.Report{Reason: report.QueueClosed, Value: queue.Name, Suggestions: []report.Suggestion{
		report.Suggest(report.OpenQueue, queue.Name), report.Suggest(report.UseAnotherQueue, queue.Name),
	}}, queue.Queue.Status.State != scheduling.QueueStateOpen
}

// overcommitFactor returns the plugin's argument as the plugin parses it.
func overcommitFactor(arguments framework.Arguments) float64 {
	factor := defaultOvercommitFactor
	arguments.GetFloat64(&factor, argOvercommitFactor)
	if factor < 1 {
		return defaultOvercommitFactor
	}
	return factor
}

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
// next to it and next to those above it.
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
	for queue != nil && len(queues) < len(a.queues) { // parents may form a cycle
		queues = append(queues, queue)
		queue = a.queues[api.QueueID(parentOf(queue))]
	}
	return queues
}

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
		// Overcommit's limit is more than the cluster has: a job that requested that much would be admitted and never start.
		short.Available = min(short.Available, h.total.Get(name))
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

// needs follows what a job requests.
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
