// SPDX-License-Identifier: Apache-2.0

package paddle

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

	paddlejob "github.com/paddle-volcano/paddle-volcano/plugins/paddle/job"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
)

// Plugins that refuse jobs, and the argument of one of them, as in Volcano's pkg/scheduler/plugins.
const (
	pluginOvercommit    = "overcommit"
	pluginProportion    = "proportion"
	pluginCapacity      = "capacity"
	pluginResourceQuota = "resourcequota"

	argOvercommitFactor     = "overcommit-factor"
	defaultOvercommitFactor = 1.2
)

// applicant is a job that asks to be let in.
type applicant struct {
	queue     *api.QueueInfo
	namespace string
	asked     *api.Resource // what its minimum asks for
	listed    corev1.ResourceList
	gang      string // its minimum in words
	wishes    bool   // for more than that
}

func newApplicant(job *api.JobInfo, queue *api.QueueInfo, g paddlejob.Gang) *applicant {
	asked := job.GetMinResources()
	return &applicant{
		queue: queue, namespace: job.Namespace, asked: asked, listed: *job.PodGroup.Spec.MinResources, gang: gangWords(job, g), wishes: !wishBeyond(job, asked).IsEmpty(),
	}
}

// refusedBy is why a plugin refuses a job, if it does.
func (a *applicant) refusedBy(plugin *conf.PluginOption, l *ledger, quotas map[string]corev1.ResourceQuotaStatus) verdict {
	queue := "queue " + a.queue.Name
	switch plugin.Name {
	case pluginOvercommit:
		return a.lacks(report.Overcommit, theCluster, l.ofCluster(overcommitFactor(plugin.Arguments)))
	case pluginProportion:
		return a.lacks(report.QueueCapacity, queue, l.ofQueue(a.queue), report.Suggest(report.RaiseQueueCapability, a.queue.Name))
	case pluginCapacity:
		if !ptr.Deref(plugin.EnabledHierarchy, false) {
			return a.lacks(report.QueueCapacity, queue, l.ofQueue(a.queue), report.Suggest(report.RaiseQueueCapability, a.queue.Name))
		}
		if hasChildren(a.queue, l.queues) {
			return verdict{reason: report.QueueNotLeaf, text: queue + " is divided into other queues, and lets jobs into these only", data: &report.Report{
				Suggestions: []report.Suggestion{report.Suggest(report.UseAnotherQueue, a.queue.Name)},
			}}
		}
		for _, one := range l.branch(a.queue) {
			reason := report.QueueCapacity
			if one != a.queue {
				reason = report.ParentQueueCapacity
			}
			if r := l.ofBranch(one); len(r.lacking(a.asked)) > 0 {
				return a.lacks(reason, "queue "+one.Name, r, report.Suggest(report.RaiseQueueCapability, one.Name))
			}
		}
		return verdict{reason: report.QueueCapacity, text: queue + ", or one above it, has no room for " + a.minimum()}
	case pluginResourceQuota:
		for _, name := range slices.Sorted(maps.Keys(quotas)) {
			quota := quotas[name]
			if v, exceeds := a.exceeds(name, &quota); exceeds {
				return v
			}
		}
		return verdict{reason: report.ResourceQuota, text: "the resource quota of namespace " + a.namespace + " has no room for " + a.minimum()}
	}
	return verdict{reason: report.RefusedByPlugin, text: "the scheduler's plugin " + plugin.Name + " does not let the job in"}
}

// exceeds is that the job's minimum is more than a ResourceQuota has left; false if it is not. Quotas limit requests by
// names such as cpu and requests.cpu, and Volcano's Job controller writes the minimum under all of them.
func (a *applicant) exceeds(name string, quota *corev1.ResourceQuotaStatus) (v verdict, exceeds bool) {
	missing := &report.Missing{}
	for _, limited := range slices.Sorted(maps.Keys(quota.Hard)) {
		requested, left := a.listed[limited], quota.Hard[limited].DeepCopy()
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
		m := measureOf(plain, amount(requested))
		v.text = fmt.Sprintf("resource quota %s of namespace %s has room for %s of the %s that the job's minimum asks for (%s)",
			name, a.namespace, orNone(m.number(amount(left), false)), m.of(m.number(amount(requested), true)), a.gang)
	}
	v.reason = report.ResourceQuota
	v.data = &report.Report{Missing: missing, Suggestions: []report.Suggestion{report.Suggest(report.RaiseResourceQuota, name)}}
	return v, exceeds
}

// lacks is how much of what the job requests is available somewhere. Where there is enough of everything by this package's
// own count, the plugin knows better, and the text says so.
func (a *applicant) lacks(reason report.Reason, where string, r room, suggestions ...report.Suggestion) verdict {
	v := verdict{reason: reason, text: where + " has no room now for " + a.minimum()}
	lacking := r.lacking(a.asked)
	if len(lacking) > 0 {
		v.text = fmt.Sprintf("%s has room for %s that the job's minimum asks for (%s)", r.where(lacking[0]), a.part(lacking[0], r), a.gang)
		v.reason = r.reasonOf(reason, lacking[0])
	}
	if v.reason != reason { // the cluster is the limit
		suggestions = nil
	}
	v.data = a.short(r, lacking, suggestions...)
	return v
}

// short is the resources that are lacking, as data.
func (a *applicant) short(r room, lacking []corev1.ResourceName, suggestions ...report.Suggestion) *report.Report {
	missing := &report.Missing{}
	for i, name := range lacking {
		available := quantity(name, max(0, r.left(name)))
		missing.Resources = append(missing.Resources, report.Resource{
			Name: string(name), Requested: quantity(name, a.asked.Get(name)), Available: available,
		})
		if i == 0 && r.left(name) > 0 {
			suggestions = append(suggestions, report.Suggest(report.LowerRequest, available+" of "+string(name)))
		}
	}
	return &report.Report{Missing: missing, Suggestions: suggestions}
}

// reasonOf is that of a queue's capability, unless the cluster itself is the limit.
func (r room) reasonOf(reason report.Reason, lacking corev1.ResourceName) report.Reason {
	if reason == report.QueueCapacity && r.where(lacking) == theCluster {
		return report.InsufficientResources
	}
	return reason
}

// part is how much there is of what is asked for: "6 of the 8 GPUs".
func (a *applicant) part(name corev1.ResourceName, r room) string {
	m := measureOf(name, a.asked.Get(name))
	return orNone(m.number(r.left(name), false)) + " of the " + m.of(m.number(a.asked.Get(name), true))
}

func orNone(number string) string {
	if number == "0" {
		return "none"
	}
	return number
}

func (a *applicant) minimum() string { return "the job's minimum (" + a.gang + ")" }

// closed says that a queue lets no job in, "" if it is open.
func closed(queue *api.QueueInfo) string {
	switch queue.Queue.Status.State {
	case scheduling.QueueStateOpen:
		return ""
	case scheduling.QueueStateClosed:
		return "queue " + queue.Name + " is closed: it lets no job in until it is opened again"
	case scheduling.QueueStateClosing:
		return "queue " + queue.Name + " is being closed: it lets no job in until it is opened again"
	}
	return "queue " + queue.Name + " is not open yet: it lets no job in"
}

func hasChildren(queue *api.QueueInfo, all map[api.QueueID]*api.QueueInfo) bool {
	for _, other := range all {
		if other.Queue.Spec.Parent == queue.Name {
			return true
		}
	}
	return false
}

// overcommitFactor is the plugin's argument as the plugin reads it.
func overcommitFactor(arguments framework.Arguments) float64 {
	factor := defaultOvercommitFactor
	arguments.GetFloat64(&factor, argOvercommitFactor)
	if factor < 1 {
		return defaultOvercommitFactor
	}
	return factor
}
