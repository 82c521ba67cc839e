// SPDX-License-Identifier: Apache-2.0

package enqueue

import (
	"fmt"
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
	minimum   *api.Resource       // what the minimum of the gang requests
	pods      func() string       // the minimum in words
}

func (p *Probe) newCandidate(job Job) *candidate {
	info := job.Info
	c := &candidate{queue: p.ssn.Queues[info.Queue], namespace: info.Namespace, minimum: info.GetMinResources(), pods: job.Minimum}
	if job.MinResources != nil {
		p.raise(info, job.MinResources)
	}
	c.requested, c.listed = info.GetMinResources(), *info.PodGroup.Spec.MinResources
	return c
}

// rejectedBy returns why a plugin rejects the job, if it does.
func (c *candidate) rejectedBy(plugin *conf.PluginOption, a *Accounting, quotas map[string]corev1.ResourceQuotaStatus) report.Report {
	queue := "queue " + c.queue.Name
	switch plugin.Name {
	case pluginOvercommit:
		return c.lacks(report.Overcommit, theCluster, a.ofCluster(overcommitFactor(plugin.Arguments)))
	case pluginProportion:
		return c.lacks(report.QueueCapacity, queue, a.ofQueue(c.queue), report.Suggest(report.RaiseQueueCapability, c.queue.Name))
	case pluginCapacity:
		if !ptr.Deref(plugin.EnabledHierarchy, false) {
			return c.lacks(report.QueueCapacity, queue, a.ofQueue(c.queue), report.Suggest(report.RaiseQueueCapability, c.queue.Name))
		}
		return c.lacksInHierarchy(a)
	case pluginResourceQuota:
		for _, name := range slices.Sorted(maps.Keys(quotas)) {
			quota := quotas[name]
			if r, exceeds := c.exceeds(name, &quota); exceeds {
				return r
			}
		}
		return report.Report{
			Reason: report.ResourceQuota, Message: "the resource quota of namespace " + c.namespace + " has no capacity for " + c.minimumText(),
		}
	}
	return report.Report{Reason: report.RefusedByPlugin, Message: "the scheduler's plugin " + plugin.Name + " rejects the job"}
}

// lacksInHierarchy returns which of the queue and those above it is full.
func (c *candidate) lacksInHierarchy(a *Accounting) report.Report {
	queue := "queue " + c.queue.Name
	for _, other := range a.queues {
		if other.Queue.Spec.Parent == c.queue.Name {
			return report.Report{
				Reason: report.QueueNotLeaf, Message: queue + " has child queues, and only these admit jobs",
				Suggestions: []report.Suggestion{report.Suggest(report.UseAnotherQueue, c.queue.Name)},
			}
		}
	}
	for _, one := range a.ancestors(c.queue) {
		reason := report.QueueCapacity
		if one != c.queue {
			reason = report.ParentQueueCapacity
		}
		if h := a.ofSubtree(one); len(h.lacking(c.requested)) > 0 {
			return c.lacks(reason, "queue "+one.Name, h, report.Suggest(report.RaiseQueueCapability, one.Name))
		}
	}
	return report.Report{Reason: report.QueueCapacity, Message: queue + ", or one above it, has no capacity for " + c.minimumText()}
}

// exceeds returns by how much the job exceeds a ResourceQuota, false if it does not. Quotas limit requests by names such as
// cpu and requests.cpu, and Volcano's Job controller lists the minimum under all of them.
func (c *candidate) exceeds(name string, quota *corev1.ResourceQuotaStatus) (r report.Report, exceeds bool) {
	missing := &report.Missing{}
	for _, limited := range slices.Sorted(maps.Keys(quota.Hard)) {
		requested, left := c.listed[limited], quota.Hard[limited].DeepCopy()
		if left.Sub(quota.Used[limited]); requested.IsZero() || requested.Cmp(left) <= 0 {
			continue
		}
		if left.Sign() < 0 {
			left.Set(0)
		}
		missing.Resources = append(missing.Resources, report.Resource{Name: string(limited), Requested: requested.String(), Available: left.String()})
		if exceeds {
			continue
		}
		exceeds = true
		plain := corev1.ResourceName(strings.TrimPrefix(strings.TrimPrefix(string(limited), "requests."), "limits."))
		amount := func(q resource.Quantity) float64 { return api.NewResource(corev1.ResourceList{plain: q}).Get(plain) }
		r.Message = fmt.Sprintf("resource quota %s of namespace %s has capacity for %s that the job's minimum asks for (%s)",
			name, c.namespace, part(plain, amount(left), amount(requested)), c.pods())
	}
	r.Reason, r.Missing = report.ResourceQuota, missing
	r.Suggestions = []report.Suggestion{report.Suggest(report.RaiseResourceQuota, name)}
	return r, exceeds
}

// lacks returns how much of what the job requests is available. If there is enough of everything by this package's count, the
// plugin knows better, and the text says so.
func (c *candidate) lacks(reason report.Reason, where string, h headroom, suggestions ...report.Suggestion) report.Report {
	r, short := h.shortage(reason, c.requested, func(name corev1.ResourceName) string {
		if own := c.minimum.Get(name); own < c.requested.Get(name) {
			return fmt.Sprintf("the job's minResources ask for (its minimum of %s takes %s)", c.pods(),
				orNone(report.UnitFor(name, c.requested.Get(name)).Number(own, true)))
		}
		return "the job's minimum asks for (" + c.pods() + ")"
	}, suggestions...)
	if !short {
		return report.Report{
			Reason: reason, Message: where + " has no capacity now for " + c.minimumText(), Missing: &report.Missing{}, Suggestions: suggestions,
		}
	}
	return r
}

// shortage returns the report that more is requested than is left, false if it is not. asked returns who requests a resource.
// Where the cluster and not a queue is the limit, the report has its reason, and suggestions about the queue are left out.
func (h headroom) shortage(
	reason report.Reason, requested *api.Resource, asked func(corev1.ResourceName) string, suggestions ...report.Suggestion,
) (report.Report, bool) {
	lacking := h.lacking(requested)
	if len(lacking) == 0 {
		return report.Report{}, false
	}
	first := lacking[0]
	if reason == report.QueueCapacity && h.where(first) == theCluster {
		reason, suggestions = report.InsufficientResources, nil
	}
	missing := &report.Missing{}
	for _, name := range lacking {
		missing.Resources = append(missing.Resources, report.Resource{
			Name: string(name), Requested: report.Quantity(name, requested.Get(name)), Available: report.Quantity(name, max(0, h.left(name))),
		})
	}
	if h.left(first) > 0 {
		suggestions = append(suggestions, report.Suggest(report.LowerRequest, missing.Resources[0].Available+" of "+string(first)))
	}
	return report.Report{
		Reason: reason, Missing: missing, Suggestions: suggestions,
		Message: h.where(first) + " has capacity for " + part(first, h.left(first), requested.Get(first)) + " that " + asked(first),
	}, true
}

// part returns how much there is of what is requested: "6 of the 8 GPUs".
func part(name corev1.ResourceName, left, requested float64) string {
	unit := report.UnitFor(name, requested)
	return orNone(unit.Number(left, false)) + " of the " + unit.Format(unit.Number(requested, true))
}

func orNone(number string) string {
	if number == "0" {
		return "none"
	}
	return number
}

func (c *candidate) minimumText() string { return "the job's minimum (" + c.pods() + ")" }

// closedQueue returns the report of a queue that is not open, false if it is. does is what it does not do.
func closedQueue(queue *api.QueueInfo, does string) (report.Report, bool) {
	text := "queue " + queue.Name
	switch queue.Queue.Status.State {
	case scheduling.QueueStateOpen:
		return report.Report{}, false
	case scheduling.QueueStateClosed:
		text += " is closed: it " + does + " until it is opened again"
	case scheduling.QueueStateClosing:
		text += " is being closed: it " + does + " until it is opened again"
	default:
		text += " is not open yet: it " + does
	}
	return report.Report{Reason: report.QueueClosed, Message: text, Suggestions: []report.Suggestion{
		report.Suggest(report.OpenQueue, queue.Name), report.Suggest(report.UseAnotherQueue, queue.Name),
	}}, true
}

// ClosedQueue returns the report of an admitted job whose queue is not open, false if it is.
func ClosedQueue(queue *api.QueueInfo) (report.Report, bool) {
	return closedQueue(queue, "starts no pods")
}

// FullQueue returns the report of an admitted job whose queue starts no more pods. requested is what its missing pods request.
func (a *Accounting) FullQueue(queue *api.QueueInfo, requested *api.Resource) report.Report {
	h := a.ofQueue(queue)
	h.used = a.account(queue.UID).allocated.Get // for pods, all that is allocated counts, and jobs that wait do not
	h.inqueue = func(corev1.ResourceName) float64 { return 0 }
	r, short := h.shortage(report.QueueCapacity, requested, func(corev1.ResourceName) string { return "the job's missing pods ask for" },
		report.Suggest(report.RaiseQueueCapability, queue.Name))
	if short {
		return r
	}
	amounts := map[corev1.ResourceName]float64{}
	for _, name := range requested.ResourceNames() {
		amounts[name] = requested.Get(name)
	}
	return report.Report{
		Reason: report.QueueOverused,
		Message: "queue " + queue.Name + " has used up its share of the cluster: the job's missing pods ask for " +
			report.FormatResources(amounts),
		Suggestions: []report.Suggestion{report.Suggest(report.UseAnotherQueue, queue.Name)},
	}
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
