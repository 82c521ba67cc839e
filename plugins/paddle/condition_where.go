// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"volcano.sh/volcano/pkg/scheduler/api"

	paddlejob "github.com/paddle-volcano/paddle-volcano/plugins/paddle/job"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// tiersUsed are the tiers from the node up that the placed members of a demand use.
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

// maxNodeLines is how many nodes a condition lists.
const maxNodeLines = 32

// whereWords says where a gang runs. Tiers are from the node up, and may be unknown; inBytes tells whether the traffic is.
func whereWords(job *api.JobInfo, g paddlejob.Gang, tiers []report.Tier, inBytes bool) verdict {
	on := membersOn(job)
	nodes := slices.Sorted(maps.Keys(on))
	all := map[string]int{}
	pods := 0
	for _, members := range on {
		for task, n := range members {
			all[task] += n
			pods += n
		}
	}
	verb := " are on "
	if pods == 1 {
		verb = " is on "
	}
	placed := &report.Placement{Tiers: tiers, InBytes: inBytes}
	lines := placed.Sentences()
	for i, node := range nodes {
		if i == maxNodeLines {
			lines = append(lines, fmt.Sprintf("and %d more nodes", len(nodes)-i))
			placed.MoreNodes = len(nodes) - i
			break
		}
		placed.Nodes = append(placed.Nodes, report.Node{Name: node, Pods: byRole(on[node], g)})
		lines = append(lines, node+": "+memberWords(on[node], g))
	}
	return verdict{
		reason: report.Placed, text: memberWords(all, g) + verb + placesWords(len(nodes), tiers), details: strings.Join(lines, "\n"),
		data: &report.Report{Placement: placed},
	}
}

// byRole are pods by what a role is called.
func byRole(byTask map[string]int, g paddlejob.Gang) map[string]int {
	members := map[string]int{}
	for _, group := range g {
		if n := byTask[group.Task]; n > 0 {
			members[roleNames[group.Role]] += n
		}
	}
	return members
}

// membersOn counts the pods of each task on each node.
func membersOn(job *api.JobInfo) map[string]map[string]int {
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
	return on
}

// memberWords are pods by role: "1 server and 4 workers".
func memberWords(byTask map[string]int, g paddlejob.Gang) string {
	var names []string
	members := map[string]int{}
	for _, group := range g {
		name := roleNames[group.Role]
		if members[name] == 0 && byTask[group.Task] > 0 {
			names = append(names, name)
		}
		members[name] += byTask[group.Task]
	}
	var parts []string
	for _, name := range names {
		parts = append(parts, strconv.Itoa(members[name])+" "+plural(members[name], name))
	}
	if len(parts) == 0 {
		return "no pods"
	}
	return inWords(parts)
}

// placesWords are "2 nodes of rack r1", or "5 nodes in 2 racks of block b1".
func placesWords(nodes int, tiers []report.Tier) string {
	words := strconv.Itoa(nodes) + " " + plural(nodes, "node")
	for i, use := range tiers {
		switch {
		case i == 0: // the nodes themselves
		case use.Count == 1:
			return words + " of " + domainWords(use.Name, use.Domains[0])
		default:
			words += fmt.Sprintf(" in %d %s", use.Count, use.Domain(2))
		}
	}
	return words
}

// Tiers that are called by a number are no nouns for their domains.
func domainWords(tier, domain string) string {
	if strings.HasPrefix(tier, "tier") {
		return "domain " + domain + " of " + tier
	}
	return tier + " " + domain
}

func plural(n int, name string) string { return report.Plural(n, name) }
