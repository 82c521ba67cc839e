// SPDX-License-Identifier: Apache-2.0

package enqueue

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"
	"volcano.sh/apis/pkg/apis/scheduling"
	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/conf"
	"volcano.sh/volcano/pkg/scheduler/framework"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
)

// Plugins that reject jobs, and the argument of one of them, as in Volcano's pkg/scheduler/plugins.
const (
	pluginOvercommit    = "overcommit"
	pluginProportion    = "proportion"
	pluginCapacity      = "capacity"
	pluginResourceQuota = "resourcequota"

	argOvercommitFactor     = "overcommit-factor"
	defaultOvercommitFactor = 1.2
)

// candidate is a job that waits for admission.
type candidate struct {
	queue     *api.QueueInfo
	namespace string
	requested *api.Resource       // what must be free
	listed    corev1.ResourceList // the same as Volcano's Job controller lists it
}

// WhyRejected returns why the queue has not admitted a job in this session. Volcano does not say which plugin rejected the job:
// what the plugins count is counted once more, in the order in which they vote.
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
