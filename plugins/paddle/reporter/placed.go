// SPDX-License-Identifier: Apache-2.0

package reporter

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"volcano.sh/volcano/pkg/scheduler/api"

	paddlejob "github.com/paddle-volcano/paddle-volcano/plugins/paddle/job"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/metrics"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/status"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// Observer is called as the session closes for each gang that was placed in it, unless the session did not read the topology.
// domains are the domains of the gang's nodes in the tier above the nodes, by the nodes' names.
type Observer func(job api.JobID, placed report.Placement, domains map[string]string)

// reportPlaced writes where a gang runs. A session that places none of its pods keeps the last report.
func (r *Reporter) reportPlaced(job *api.JobInfo, g paddlejob.Gang) {
	had, _ := status.Condition(job.PodGroup)
	pending := len(job.TaskStatusIndex[api.Pending])
	if g == nil {
		g = paddlejob.NewGang(job, r.Roles)
	}
	moved := had.Status != corev1.ConditionTrue || r.pending[job.UID] != pending
	placed := report.Decode(job.PodGroup.Annotations)
	if moved || placed == nil || placed.Reason != report.Placed {
		tiers, inBytes := r.tiersOf(job, g)
		now := report.NewPlaced(podsOn(job, g), tiers, inBytes)
		placed = &now
		if moved && r.Observe != nil && len(tiers) > 0 {
			r.Observe(job.UID, *now.Placement, r.domainsOf(job))
		}
		if had.Status != corev1.ConditionTrue { // pods that join a gang that runs do not count
			for _, tier := range tiers {
				metrics.AddCrossing(tier.Name, tier.Crossing, inBytes)
			}
		}
	}
	placed.Surplus = ""
	if pending > 0 {
		placed.Surplus = r.whySurplus(job, g)
	}
	r.Status.Write(r.Session, job, *placed, moved)
}

// tiersOf returns the tiers of the network that a gang uses, none in a session that has not read the topology.
func (r *Reporter) tiersOf(job *api.JobInfo, g paddlejob.Gang) (tiers []report.Tier, inBytes bool) {
	t, d, ok := r.Planner.PlacedDemand(job, g)
	if !ok {
		return nil, false
	}
	cost, err := placement.Evaluate(t, d, nil)
	if err != nil {
		return nil, false
	}
	return tiersUsed(t, d, &cost), d.ParameterBytes > 0
}

// tiersUsed returns the tiers from the node up that the placed members of a demand use.
func tiersUsed(t *placement.Topology, d *placement.Demand, cost *placement.Cost) []report.Tier {
	var tiers []report.Tier
	for tier := placement.NodeTier; tier < len(t.Tiers()); tier++ {
		var domains []string
		seconds := 0.0
		if width := t.Tiers()[tier].Bandwidth; width > 0 && d.ParameterBytes > 0 {
			seconds = cost.Tiers[tier].Busiest / width
		}
		for r := range d.Roles {
			for _, member := range d.Roles[r].Placed {
				domains = append(domains, t.DomainName(t.Ancestor(member.Node, tier)))
			}
		}
		slices.Sort(domains)
		domains = slices.Compact(domains)
		tiers = append(tiers, report.NewTier(t.Tiers()[tier].Name, domains, cost.Tiers[tier].Bytes, seconds))
	}
	return tiers
}

func (r *Reporter) domainsOf(job *api.JobInfo) map[string]string {
	domains := map[string]string{}
	t, err := r.Planner.Topology()
	if err != nil || len(t.Tiers()) <= placement.NodeTier+1 {
		return domains
	}
	for name := range podsOn(job, nil) {
		if id, ok := t.Node(name); ok {
			domains[name] = t.DomainName(t.Ancestor(id, placement.NodeTier+1))
		}
	}
	return domains
}

// whySurplus returns why pods beyond the minimums wait.
func (r *Reporter) whySurplus(job *api.JobInfo, g paddlejob.Gang) string {
	byTask := map[string]int{}
	why := ""
	for _, task := range paddlejob.InOrder(job) {
		if task.Status != api.Pending {
			continue
		}
		byTask[task.TaskRole]++
		if rejected := job.NodesFitErrors[task.UID]; rejected != nil && why == "" {
			why = strings.TrimSuffix(rejected.Error(), ".")
		}
	}
	if recorded, ok := r.reports[job.UID]; ok {
		why = recorded.Text()
	}
	return report.SurplusText(byRole(byTask, g), why)
}

func podsOn(job *api.JobInfo, g paddlejob.Gang) map[string]map[string]int {
	on := map[string]map[string]int{}
	for _, task := range job.Tasks {
		if task.NodeName == "" || !api.AllocatedStatus(task.Status) {
			continue
		}
		if on[task.NodeName] == nil {
			on[task.NodeName] = map[string]int{}
		}
		on[task.NodeName][task.TaskRole]++
	}
	for node, byTask := range on {
		on[node] = byRole(byTask, g)
	}
	return on
}

// byRole counts pods by what users call their role.
func byRole(byTask map[string]int, g paddlejob.Gang) map[string]int {
	pods := map[string]int{}
	for _, group := range g {
		if n := byTask[group.Task]; n > 0 {
			pods[group.Role.Noun()] += n
		}
	}
	return pods
}
