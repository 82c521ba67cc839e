// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/conf"
	"volcano.sh/volcano/pkg/scheduler/framework"
	"volcano.sh/volcano/pkg/scheduler/plugins/util"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
)

// refusals find out which plugin keeps a job from being let in (PodGroup phase Inqueue), before which it has no pods.
//
// A plugin is not told how others vote, and asking them once more would change what they count. But a vote ends with the
// first refusal, and ssn.Tiers says in which order it goes: so an entry without an opinion stands before each plugin while
// enqueue runs, and the last of these that was asked about a job stands before the one that refused it.
type refusals struct {
	ssn        *framework.Session
	applicants map[api.JobID]*applicant
	refused    func(*api.JobInfo, report.Report) // told before each vote; the last time counts
	accepted   func(*api.JobInfo)
	guarded    func(*api.JobInfo, func()) // runs what puts a refusal into words
	tiers      []conf.Tier                // the session's own, while ours stand in its place
	queueVotes bool                       // a plugin votes that refuses jobs of closed queues
	ledger     *ledger                    // nil until a Paddle job is voted on
	wished     *ledger                    // the same, with what jobs wish for; nil until one that does is voted on
}

// watch prepares for the votes on the Paddle jobs that wait to be let in.
func (r *refusals) watch(ssn *framework.Session) {
	if len(r.applicants) == 0 || !conf.EnabledActionMap["enqueue"] {
		return
	}
	r.ssn, r.tiers = ssn, ssn.Tiers
	ssn.Tiers = make([]conf.Tier, len(r.tiers))
	votes, first := ptr.To(true), ptr.To(true)
	for t, tier := range r.tiers {
		for i := range tier.Plugins {
			option := &tier.Plugins[i]
			if ptr.Deref(option.EnabledJobEnqueued, false) {
				name := fmt.Sprintf("%s before %d.%d %s", PluginName, t, i, option.Name)
				ssn.Tiers[t].Plugins = append(ssn.Tiers[t].Plugins, conf.PluginOption{
					Name: name, EnabledJobEnqueued: votes, EnabledOverused: first,
				})
				ssn.AddJobEnqueueableFn(name, func(job any) int { return r.before(option, job) })
				if first != nil {
					// Ahead of all others: who permits a job may count it as let in, whatever is voted afterwards.
					ssn.AddJobEnqueueableFn(name, func(job any) int {
						r.before(option, job)
						return r.vote(job)
					})
					ssn.AddJobEnqueuedFn(name, r.letIn)
					ssn.AddOverusedFn(name, r.end)
				}
				first = nil
				r.queueVotes = r.queueVotes || slices.Contains([]string{pluginProportion, pluginCapacity}, option.Name)
			}
			ssn.Tiers[t].Plugins = append(ssn.Tiers[t].Plugins, *option)
		}
	}
}

// before is asked for a vote on a job before a plugin is. It abstains.
func (r *refusals) before(plugin *conf.PluginOption, obj any) int {
	job, ok := obj.(*api.JobInfo)
	if !ok {
		return util.Abstain
	}
	applicant, ok := r.applicants[job.UID]
	if !ok {
		return util.Abstain
	}
	if r.ledger == nil {
		r.ledger = newLedger(r.ssn)
	}
	r.guarded(job, func() {
		var v report.Report
		if why := closed(applicant.queue); why != "" && r.queueVotes {
			v = report.Report{Reason: report.QueueClosed, Message: why, Suggestions: openQueue(applicant.queue)}
		} else {
			v = applicant.refusedBy(plugin, r.ledger, r.quotas(job.Namespace))
		}
		r.refused(job, v)
	})
	return util.Abstain
}

// letIn is told of a job that no plugin has refused.
func (r *refusals) letIn(obj any) {
	job, ok := obj.(*api.JobInfo)
	if !ok {
		return
	}
	for _, l := range []*ledger{r.ledger, r.wished} {
		if l != nil {
			l.letIn(job)
		}
	}
	if _, ok := r.applicants[job.UID]; ok {
		r.accepted(job)
	}
}

func (r *refusals) quotas(namespace string) map[string]corev1.ResourceQuotaStatus {
	if info := r.ssn.NamespaceInfo[api.NamespaceName(namespace)]; info != nil {
		return info.QuotaStatus
	}
	return nil
}

// end gives the session its own tiers back: allocate, which asks for overused queues before anything else, has begun.
func (r *refusals) end(any) bool {
	if r.tiers != nil {
		r.ssn.Tiers, r.tiers = r.tiers, nil
	}
	return false
}
