// SPDX-License-Identifier: Apache-2.0

// Package enqueue finds out why Volcano does not admit a job (PodGroup phase Inqueue), before which the job has no pods.
package enqueue

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"
	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/conf"
	"volcano.sh/volcano/pkg/scheduler/framework"
	"volcano.sh/volcano/pkg/scheduler/plugins/util"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
)

// Job is a job that waits for admission.
type Job struct {
	Info *api.JobInfo
	// MinResources must be free before the job is admitted; nil for no more than the PodGroup says.
	MinResources *api.Resource
}

// Callbacks are called as Volcano votes.
type Callbacks struct {
	// Rejected is called before each vote with the report for the case that the vote rejects the job. The last call counts.
	Rejected func(*api.JobInfo, report.Report)
	// Admitted is called when no vote has rejected the job.
	Admitted func(*api.JobInfo)
	// Guard runs the work on a job and recovers from its panics.
	Guard func(*api.JobInfo, func())
}

// Probe observes the votes on jobs that wait for admission.
//
// Volcano does not say which plugin rejected a job, and a second vote would change what the plugins have counted. A vote
// ends with the first rejection, and ssn.Tiers has the order of the votes. The probe therefore stands before each plugin while
// enqueue runs, and abstains. The last probe that was called precedes the plugin that rejected the job.
type Probe struct {
	ssn          *framework.Session
	name         string
	candidates   map[api.JobID]*candidate
	callbacks    Callbacks
	tiers        []conf.Tier // the session's own, while the probe's stand in their place
	closedQueues bool        // a plugin votes that rejects jobs of closed queues
	accounting   *Accounting // nil until the first vote
	raised       []raised
}

// Watch starts to observe the votes on jobs. Plugins of the session that begin with name are the probe's.
func Watch(ssn *framework.Session, name string, jobs []Job, callbacks Callbacks) *Probe {
	p := &Probe{ssn: ssn, name: name, candidates: map[api.JobID]*candidate{}, callbacks: callbacks}
	if len(jobs) == 0 || !conf.EnabledActionMap["enqueue"] {
		return p
	}
	for _, job := range jobs {
		if job.MinResources != nil {
			p.raise(job.Info, job.MinResources)
		}
		p.candidates[job.Info.UID] = &candidate{
			queue: ssn.Queues[job.Info.Queue], namespace: job.Info.Namespace,
			requested: job.Info.GetMinResources(), listed: *job.Info.PodGroup.Spec.MinResources,
		}
	}
	p.insert()
	return p
}

// insert puts an entry before each plugin that votes.
func (p *Probe) insert() {
	p.tiers = p.ssn.Tiers
	p.ssn.Tiers = make([]conf.Tier, len(p.tiers))
	first := ptr.To(true)
	for t, tier := range p.tiers {
		for i := range tier.Plugins {
			option := &tier.Plugins[i]
			if ptr.Deref(option.EnabledJobEnqueued, false) {
				name := fmt.Sprintf("%s before %d.%d %s", p.name, t, i, option.Name)
				p.ssn.Tiers[t].Plugins = append(p.ssn.Tiers[t].Plugins, conf.PluginOption{
					Name: name, EnabledJobEnqueued: ptr.To(true), EnabledOverused: first,
				})
				p.ssn.AddJobEnqueueableFn(name, func(job any) int { return p.beforeVote(option, job) })
				if first != nil {
					p.ssn.AddJobEnqueuedFn(name, p.onEnqueued)
					p.ssn.AddOverusedFn(name, func(any) bool {
						p.Close() // allocate, which asks for overused queues before anything else, has begun
						return false
					})
				}
				first = nil
				p.closedQueues = p.closedQueues || slices.Contains([]string{pluginProportion, pluginCapacity}, option.Name)
			}
			p.ssn.Tiers[t].Plugins = append(p.ssn.Tiers[t].Plugins, *option)
		}
	}
}

// beforeVote is called before a plugin votes on a job.
func (p *Probe) beforeVote(plugin *conf.PluginOption, obj any) int {
	job, ok := obj.(*api.JobInfo)
	if !ok {
		return util.Abstain
	}
	c, ok := p.candidates[job.UID]
	if !ok {
		return util.Abstain
	}
	if p.accounting == nil {
		p.accounting = NewAccounting(p.ssn)
	}
	p.callbacks.Guard(job, func() {
		r, closed := ClosedQueue(c.queue)
		if !closed || !p.closedQueues {
			r = c.rejectedBy(plugin, p.accounting, p.quotas(job.Namespace))
		}
		p.callbacks.Rejected(job, r)
	})
	return util.Abstain
}

// onEnqueued is called for a job that no plugin has rejected.
func (p *Probe) onEnqueued(obj any) {
	job, ok := obj.(*api.JobInfo)
	if !ok {
		return
	}
	if p.accounting != nil {
		p.accounting.admit(job)
	}
	if _, ok := p.candidates[job.UID]; ok {
		p.callbacks.Admitted(job)
	}
}

func (p *Probe) quotas(namespace string) map[string]corev1.ResourceQuotaStatus {
	if info := p.ssn.NamespaceInfo[api.NamespaceName(namespace)]; info != nil {
		return info.QuotaStatus
	}
	return nil
}

// Close takes back what the probe has changed in the session. It may be called more than once, and must be called before the
// session writes PodGroups.
func (p *Probe) Close() {
	if p.tiers != nil {
		p.ssn.Tiers, p.tiers = p.tiers, nil
	}
	for _, r := range p.raised {
		r.group.Spec.MinResources = r.had
	}
	p.raised = nil
}

// raised is a PodGroup of the session whose minResources were raised, and what they were.
type raised struct {
	group *api.PodGroup
	had   *corev1.ResourceList
}

// raise raises the minResources of a job's PodGroup for as long as the session votes, so that Volcano's own plugins count
// them. A user cannot write them there: Volcano's Job controller computes them from the templates and writes them again and
// again.
func (p *Probe) raise(job *api.JobInfo, least *api.Resource) {
	had := job.PodGroup.Spec.MinResources
	list := maps.Clone(*had)
	minimum := job.GetMinResources()
	for _, name := range least.ResourceNames() {
		if amount := least.Get(name); amount > minimum.Get(name) {
			list[name] = resource.MustParse(report.Quantity(name, amount))
		}
	}
	job.PodGroup.Spec.MinResources = &list
	p.raised = append(p.raised, raised{job.PodGroup, had})
}
