// SPDX-License-Identifier: Apache-2.0

package paddle

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

// reportPlaced writes where a gang runs. A session that places none of its pods keeps the last report.
func (p *plugin) reportPlaced(job *api.JobInfo, g paddlejob.Gang) {
	had, _ := status.Condition(job.PodGroup)
	pending := len(job.TaskStatusIndex[api.Pending])
	if g == nil {
		g = paddlejob.NewGang(job, p.arguments.taskRoles)
	}
	moved := had.Status != corev1.ConditionTrue || p.reporter.pending[job.UID] != pending
	placed := report.Decode(job.PodGroup.Annotations)
	if moved || placed == nil || placed.Reason != report.Placed {
		tiers, inBytes := p.tiersOf(job, g)
		r := report.NewPlaced(podsOn(job, g), tiers, inBytes)
		placed = &r
		if moved {
			p.observed(job, tiers, inBytes)
		}
		if had.Status != corev1.ConditionTrue { // pods that join a gang that runs do not count
			for _, use := range tiers {
				if inBytes {
					metrics.AddCrossingBytes(use.Name, use.Crossing)
				} else {
					metrics.AddCrossingModelSizes(use.Name, use.Crossing)
				}
			}
		}
	}
	placed.Surplus = ""
	if pending > 0 {
		placed.Surplus = p.whySurplus(job, g)
	}
	p.state.status.Placed(p.ssn, job, *placed, moved)
}

// tiersOf returns the tiers of the network that a gang uses, none in a session that has not read the network.
func (p *plugin) tiersOf(job *api.JobInfo, g paddlejob.Gang) (tiers []report.Tier, inBytes bool) {
	if !p.course.followed || p.course.network.Topology() == nil {
		return nil, false
	}
	c := newCast(job, g, p.course.spec(job), p.course.network, func(task *api.TaskInfo) bool { return api.AllocatedStatus(task.Status) }, nil)
	cost, err := placement.Evaluate(p.course.network.Topology(), &c.demand, nil)
	if err != nil {
		return nil, false
	}
	return tiersUsed(p.course.network.Topology(), &c.demand, &cost), c.demand.ParameterBytes > 0
}

// tiersUsed returns the tiers from the node up that the placed members of a demand use.
func tiersUsed(t *placement.Topology, d *placement.Demand, cost *placement.Cost) []report.Tier {
	var uses []report.Tier
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
		uses = append(uses, report.NewTier(t.Tiers()[tier].Name, domains, cost.Tiers[tier].Bytes, seconds))
	}
	return uses
}

// whySurplus returns why pods beyond the minimums wait.
func (p *plugin) whySurplus(job *api.JobInfo, g paddlejob.Gang) string {
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
	if r, ok := p.reporter.reports[job.UID]; ok {
		why = r.Text()
	}
	return report.SurplusText(byRole(byTask, g), why)
}

// podsOn counts the pods of each role on each node.
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
			pods[roleNames[group.Role]] += n
		}
	}
	return pods
}
