// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/conf"
	"volcano.sh/volcano/pkg/scheduler/plugins/util"

	paddlejob "github.com/paddle-volcano/paddle-volcano/plugins/paddle/job"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
)

// vote refuses a job that says that more must be free than its gang needs, where that is not free. Volcano's plugins see to
// what the gang needs: they read the PodGroup's minResources, which Volcano's Job controller works out from the templates
// and writes again and again, so that a wish of the user's cannot stand there.
func (r *refusals) vote(obj any) int {
	job, ok := obj.(*api.JobInfo)
	if !ok {
		return util.Abstain
	}
	a, ok := r.applicants[job.UID]
	if !ok || !a.wishes || !ptr.Deref(ownOption(r.tiers).EnabledJobEnqueued, false) {
		return util.Abstain
	}
	if closed(a.queue) != "" && r.queueVotes {
		return util.Abstain // whoever refuses it says so
	}
	if r.wished == nil {
		r.wished = newLedgerBy(r.ssn, leastOf)
	}
	asked := leastOf(job)
	for _, limit := range r.limits(a.queue) {
		if v, lacks := a.lacksWished(asked, limit); lacks {
			r.refused(job, v)
			return util.Reject
		}
	}
	return util.Abstain
}

// entryLimit is one of those that a job must keep to be let in.
type entryLimit struct {
	reason report.Reason
	where  string
	room   room
}

// limits are those of the plugins that vote, in their order, and in any case the cluster's.
func (r *refusals) limits(queue *api.QueueInfo) []entryLimit {
	var limits []entryLimit
	cluster := false
	for _, tier := range r.tiers {
		for i := range tier.Plugins {
			plugin := &tier.Plugins[i]
			switch {
			case !ptr.Deref(plugin.EnabledJobEnqueued, false):
			case plugin.Name == pluginOvercommit:
				factor := overcommitFactor(plugin.Arguments)
				limits = append(limits, entryLimit{report.Overcommit, theCluster, r.wished.ofCluster(factor)})
				cluster = true
			case plugin.Name == pluginProportion, plugin.Name == pluginCapacity:
				limits = append(limits, r.ofQueues(queue, plugin)...)
			}
		}
	}
	if !cluster {
		limits = append(limits, entryLimit{reason: report.InsufficientResources, where: theCluster, room: r.wished.ofCluster(1)})
	}
	return limits
}

func (r *refusals) ofQueues(queue *api.QueueInfo, plugin *conf.PluginOption) (limits []entryLimit) {
	if plugin.Name == pluginProportion || !ptr.Deref(plugin.EnabledHierarchy, false) {
		return []entryLimit{{reason: report.QueueCapacity, where: "queue " + queue.Name, room: r.wished.ofQueue(queue)}}
	}
	if hasChildren(queue, r.ssn.Queues) {
		return nil // no job is let in there
	}
	for _, one := range r.wished.branch(queue) {
		reason := report.QueueCapacity
		if one != queue {
			reason = report.ParentQueueCapacity
		}
		limits = append(limits, entryLimit{reason: reason, where: "queue " + one.Name, room: r.wished.ofBranch(one)})
	}
	return limits
}

// lacksWished says what is missing of what a job asks for with its wish, beyond its minimum; false if nothing is.
func (a *applicant) lacksWished(asked *api.Resource, limit entryLimit) (verdict, bool) {
	wishing := *a
	wishing.asked = asked
	lacking := slices.DeleteFunc(limit.room.lacking(asked), func(name corev1.ResourceName) bool {
		return asked.Get(name) <= a.asked.Get(name)
	})
	if len(lacking) == 0 {
		return verdict{}, false
	}
	first := lacking[0]
	own := orNone(measureOf(first, asked.Get(first)).number(a.asked.Get(first), true))
	return verdict{
		reason: limit.room.reasonOf(limit.reason, first),
		text: fmt.Sprintf("%s has room for %s that the job's minResources ask for (its minimum of %s takes %s)",
			limit.room.where(first), wishing.part(first, limit.room), a.gang, own),
		data: wishing.short(limit.room, lacking),
	}, true
}

// leastOf is what must be free before a job is let in: of each resource the larger of what its minimum asks for and what
// its annotation says.
func leastOf(job *api.JobInfo) *api.Resource {
	least := job.GetMinResources()
	return least.Add(wishBeyond(job, least))
}

// wishBeyond is what a Paddle job wishes for beyond an amount.
func wishBeyond(job *api.JobInfo, amount *api.Resource) *api.Resource {
	beyond := api.EmptyResource()
	if _, wishes := job.PodGroup.Annotations[paddlejob.MinResourcesAnnotation]; !wishes || !paddlejob.IsPaddle(job) {
		return beyond
	}
	if w, _ := paddlejob.ParseSpec(job.PodGroup.Annotations, paddlejob.Spec{}); w.MinResources != nil {
		beyond = api.ExceededPart(w.MinResources, amount)
	}
	return beyond
}
