// SPDX-License-Identifier: Apache-2.0

package command

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/describe"
	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/plan"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
)

// planText returns a plan as text.
func planText(p *plan.Plan) string {
	var out strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&out, format+"\n", args...) }
	switch {
	case !p.Fits:
		say("%s does not fit now: it would wait.", p.Name)
		for _, line := range describe.Lines(p.Why, false) {
			say("%s", line)
		}
	case len(p.Evicted) > 0:
		say("%s fits once others have been evicted: %s.", p.Name, gangWords(p.Evicted))
	default:
		say("%s fits: it would start now.", p.Name)
	}
	if p.Fits {
		say("\n%s", placeTable(p))
		if len(p.Traffic) > 0 {
			say("%s", trafficTable(p))
		}
	}
	if len(p.First) > 0 {
		say("Jobs that wait already would take their nodes in the same moment: %s.", gangWords(p.First))
	}
	switch {
	case p.Fits:
	case p.Blocked:
		say("Without them it would fit.")
	case p.Empty.Fits:
		say("It would fit on an empty cluster: %s", p.Empty.Where)
	case len(p.Empty.Why) > 0 && len(p.Why) > 0 && p.Empty.Why[0].Text == p.Why[0].Text:
		say("It would not fit on an empty cluster either.")
	case len(p.Empty.Why) > 0:
		say("It would not fit on an empty cluster either: %s", p.Empty.Why[0].Text)
	}
	if len(p.Displaced) > 0 {
		say("Pods on the removed nodes that need other nodes: %s.", gangWords(p.Displaced))
	}
	for _, note := range p.Notes {
		say("Note: %s.", note)
	}
	return strings.TrimRight(out.String(), "\n") + "\n"
}

// maxPlaces is how many lines a role has at most; -o json and -o yaml have all.
const maxPlaces = 12

// placeTable has a line for each role and domain.
func placeTable(p *plan.Plan) string {
	rows := [][]string{{"ROLE", "PODS", "WHERE"}}
	for _, role := range p.Roles {
		name, pods := role.Name, podWords(role)
		lines := placeLines(role.Places)
		if len(lines) > maxPlaces+1 {
			lines = append(lines[:maxPlaces:maxPlaces], fmt.Sprintf("and %d more places (-o yaml has all)", len(lines)-maxPlaces))
		}
		for _, line := range lines {
			rows = append(rows, []string{name, pods, line})
			name, pods = "", ""
		}
	}
	return table("", rows)
}

// podWords returns "4", or "3 of 4" if the minimum of the job fits and not all pods do.
func podWords(role plan.Role) string {
	placed := 0
	for _, place := range role.Places {
		placed += place.Pods
	}
	if placed == role.Pods {
		return strconv.Itoa(placed)
	}
	return fmt.Sprintf("%d of %d", placed, role.Pods)
}

// placeLines returns the nodes by domain: "rack-0: node-0 x2, node-1 x2".
func placeLines(places []plan.Place) (lines []string) {
	if len(places) == 0 {
		return []string{"-"}
	}
	for i, place := range places {
		text := fmt.Sprintf("%s x%d", place.Node, place.Pods)
		switch {
		case i > 0 && places[i-1].Domain == place.Domain:
			lines[len(lines)-1] += ", " + text
		case place.Domain != "":
			lines = append(lines, place.Domain+": "+text)
		default:
			lines = append(lines, text)
		}
	}
	return lines
}

// trafficTable compares what a step of training sends here with what it would send on the empty cluster.
func trafficTable(p *plan.Plan) string {
	unit := report.Placement{InBytes: p.Unit == plan.Bytes}
	amount := func(amount float64) string {
		if amount == 0 {
			return "nothing"
		}
		return unit.Amount(amount)
	}
	rows := [][]string{{"EACH STEP SENDS", "HERE", "ON AN EMPTY CLUSTER"}}
	for _, tier := range p.Traffic {
		best := "-"
		if tier.Best != nil {
			best = amount(*tier.Best)
		}
		rows = append(rows, []string{"between " + report.Domains(2, tier.Tier), amount(tier.Now), best})
	}
	return table("", rows)
}

// maxGangs is how many jobs of others are named.
const maxGangs = 8

func gangWords(gangs []plan.Gang) string {
	var words []string
	for i, gang := range gangs {
		if i == maxGangs && len(gangs) > maxGangs+1 {
			words = append(words, fmt.Sprintf("and %d more", len(gangs)-maxGangs))
			break
		}
		words = append(words, fmt.Sprintf("%s/%s (%s)", gang.Namespace, gang.Name, describe.Count(gang.Pods, "pod")))
	}
	return strings.Join(words, ", ")
}
