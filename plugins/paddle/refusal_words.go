// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"volcano.sh/apis/pkg/apis/scheduling"
	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/conf"
	"volcano.sh/volcano/pkg/scheduler/framework"
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
	gang      string        // its minimum in words
	asking    string        // what asks says, once it was asked
	wishes    bool          // for more than that
}

func newApplicant(job *api.JobInfo, queue *api.QueueInfo, g gang) *applicant {
	asked := job.GetMinResources()
	return &applicant{
		queue: queue, namespace: job.Namespace, asked: asked, gang: gangWords(job, g), wishes: !wishBeyond(job, asked).IsEmpty(),
	}
}

// refusedBy is why a plugin refuses a job, if it does.
func (a *applicant) refusedBy(plugin *conf.PluginOption, l *ledger, quotas map[string]corev1.ResourceQuotaStatus) verdict {
	queue := "queue " + a.queue.Name
	v := verdict{class: classRefused, details: a.asks()}
	switch plugin.Name {
	case pluginOvercommit:
		factor := overcommitFactor(plugin.Arguments)
		v = a.lacks(classOvercommit, theCluster, l.ofCluster(factor))
		v.details += overcommitWords(factor)
	case pluginProportion:
		v = a.lacks(classQueueQuota, queue, l.ofQueue(a.queue))
	case pluginCapacity:
		switch {
		case !ptr.Deref(plugin.EnabledHierarchy, false):
			v = a.lacks(classQueueQuota, queue, l.ofQueue(a.queue))
		case hasChildren(a.queue, l.queues):
			v.text = queue + " is divided into other queues, and lets jobs into these only"
		default:
			v.class = classQueueQuota
			v.text = queue + ", or one above it, has no room for " + a.minimum()
		}
	case pluginResourceQuota:
		v.class = classNamespaceQuota
		for _, name := range slices.Sorted(maps.Keys(quotas)) {
			quota := quotas[name]
			where := "resource quota " + name + " of namespace " + a.namespace
			if r := ofNamespace(where, &quota); len(r.lacking(a.asked)) > 0 {
				return a.lacks(classNamespaceQuota, where, r)
			}
		}
		v.text = "the resource quota of namespace " + a.namespace + " has no room for " + a.minimum()
	default:
		v.text = "the scheduler's plugin " + plugin.Name + " does not let the job in"
	}
	return v
}

// lacks says how much room there is for the job. Where there is enough of everything by this package's own count, it says
// that there is none: the plugin knows better.
func (a *applicant) lacks(c class, where string, r room) verdict {
	v := verdict{class: c, text: where + " has no room now for " + a.minimum(), details: a.asks() + "\n" + a.roomWords(where, r)}
	if lacking := r.lacking(a.asked); len(lacking) > 0 {
		v.text = fmt.Sprintf("%s has room for %s that the job's minimum asks for (%s)", r.where(lacking[0]), a.part(lacking[0], r), a.gang)
		v.class = r.class(c, lacking[0])
	}
	return v
}

// class is that of a queue's quota, unless the cluster itself is the limit.
func (r room) class(c class, lacking corev1.ResourceName) class {
	if c == classQueueQuota && r.where(lacking) == theCluster {
		return classNoRoom
	}
	return c
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

// roomWords are the details of what there is, on a line for each resource that is asked for.
func (a *applicant) roomWords(where string, r room) string {
	lines := []string{where + ":"}
	for _, name := range resourceOrder(a.asked) {
		limit := r.limit(name)
		if limit >= unlimited {
			continue
		}
		m := measureOf(name, max(a.asked.Get(name), limit))
		promised := ""
		if r.promised(name) > 0 {
			promised = m.number(r.promised(name), true) + " promised to jobs that were let in, "
		}
		lines = append(lines, fmt.Sprintf("  at most %s: %s used, %s%s left", m.of(m.number(limit, false)), m.number(r.used(name), true),
			promised, m.number(r.left(name), false)))
	}
	return strings.Join(lines, "\n")
}

// unlimited amounts are not told.
const unlimited = 1e18

func (a *applicant) minimum() string { return "the job's minimum (" + a.gang + ")" }

// asks is said before each plugin's vote.
func (a *applicant) asks() string {
	if a.asking == "" {
		a.asking = a.minimum() + " asks for " + resourceWords(a.asked)
	}
	return a.asking
}

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

func overcommitWords(factor float64) string {
	return fmt.Sprintf("\njobs are let in until they ask for %.4g times what the cluster has (overcommit)", factor)
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
