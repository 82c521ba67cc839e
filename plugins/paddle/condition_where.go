// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"volcano.sh/volcano/pkg/scheduler/api"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// tierUse is what a placed job does with one tier of the network.
type tierUse struct {
	tier    string
	domains []string // that hold members, sorted
	// crossing is what a step of training sends over the borders of the tier's domains, in bytes or in sizes of the model.
	crossing float64
	// seconds that its busiest link takes in each step, 0 where the model's size or the tier's bandwidth is not known.
	seconds float64
}

// tiersUsed are the tiers from the node up that the placed members of a demand use.
func tiersUsed(t *placement.Topology, d *placement.Demand, cost *placement.Cost) []tierUse {
	var uses []tierUse
	for tier := placement.NodeTier; tier < len(t.Tiers()); tier++ {
		use := tierUse{tier: t.Tiers()[tier].Name, crossing: cost.Tiers[tier].Bytes}
		if width := t.Tiers()[tier].Bandwidth; width > 0 && d.ParameterBytes > 0 {
			use.seconds = cost.Tiers[tier].Busiest / width
		}
		for r := range d.Roles {
			for _, member := range d.Roles[r].Placed {
				use.domains = append(use.domains, t.DomainName(t.Ancestor(member.Node, tier)))
			}
		}
		slices.Sort(use.domains)
		use.domains = slices.Compact(use.domains)
		uses = append(uses, use)
	}
	return uses
}

// maxNodeLines is how many nodes a condition lists.
const maxNodeLines = 32

// whereWords says where a gang runs. Tiers are from the node up, and may be unknown; inBytes tells whether the traffic is.
func whereWords(job *api.JobInfo, g gang, tiers []tierUse, inBytes bool) verdict {
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
	var lines []string
	if len(tiers) > 0 {
		lines = append(lines, trafficLine(tiers, inBytes))
		if line := busiestLine(tiers); line != "" {
			lines = append(lines, line)
		}
	}
	for i, node := range nodes {
		if i == maxNodeLines {
			lines = append(lines, fmt.Sprintf("and %d more nodes", len(nodes)-i))
			break
		}
		lines = append(lines, node+": "+memberWords(on[node], g))
	}
	return verdict{
		class: classPlaced, text: memberWords(all, g) + verb + placesWords(len(nodes), tiers), details: strings.Join(lines, "\n"),
	}
}

// trafficLine says what a step of training sends over the network.
func trafficLine(tiers []tierUse, inBytes bool) string {
	var parts []string
	for _, use := range tiers {
		if use.crossing > 0 {
			parts = append(parts, trafficWords(use.crossing, inBytes)+" between "+domainsWord(use.tier))
		}
	}
	if len(parts) == 0 {
		return "a step of training sends nothing between nodes"
	}
	return "a step of training sends " + inWords(parts)
}

// busiestLine says what the slowest transfer of a step takes, "" where that is not known or nothing is sent.
func busiestLine(tiers []tierUse) string {
	most := tierUse{}
	for _, use := range tiers {
		if use.seconds > most.seconds {
			most = use
		}
	}
	if most.seconds == 0 {
		return ""
	}
	return fmt.Sprintf("the busiest link takes %.3g s of each step, between %s", most.seconds, domainsWord(most.tier))
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
func memberWords(byTask map[string]int, g gang) string {
	var names []string
	members := map[string]int{}
	for _, group := range g {
		name := roleNames[group.role]
		if members[name] == 0 && byTask[group.task] > 0 {
			names = append(names, name)
		}
		members[name] += byTask[group.task]
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
func placesWords(nodes int, tiers []tierUse) string {
	words := strconv.Itoa(nodes) + " " + plural(nodes, "node")
	for i, use := range tiers {
		switch {
		case i == 0: // the nodes themselves
		case len(use.domains) == 1:
			return words + " of " + domainWords(use.tier, use.domains[0])
		default:
			words += fmt.Sprintf(" in %d %s", len(use.domains), domainsWord(use.tier))
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

func domainsWord(tier string) string {
	if strings.HasPrefix(tier, "tier") {
		return "domains of " + tier
	}
	return plural(2, tier)
}

// trafficWords are an amount that is sent: "12.5 GiB", or "3 times the model".
func trafficWords(amount float64, inBytes bool) string {
	if !inBytes {
		return strconv.FormatFloat(amount, 'g', 3, 64) + " times the model"
	}
	m := measureOf(corev1.ResourceMemory, amount)
	return m.number(amount, true) + " " + strings.TrimSuffix(m.many, " of memory")
}

func plural(n int, name string) string {
	if n == 1 || strings.HasSuffix(name, "s") {
		return name
	}
	return name + "s"
}
