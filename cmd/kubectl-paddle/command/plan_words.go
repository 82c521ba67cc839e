// SPDX-License-Identifier: Apache-2.0

package command

import (
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/story"
	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/whatif"
)

// planWords is a plan as text.
func planWords(p *whatif.Plan) string {
	var out strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&out, format+"\n", args...) }
	switch {
	case !p.Fits:
		say("%s does not fit now: it would wait.", p.Name)
		sayWhy(say, p.Why)
	case len(p.Evicted) > 0:
		say("%s fits once others have been evicted: %s.", p.Name, gangWords(p.Evicted))
	default:
		say("%s fits: it would start now.", p.Name)
	}
	if p.Fits {
		say("")
		placeTable(&out, p)
		say("")
		if len(p.Traffic) > 0 {
			trafficTable(&out, p)
			say("")
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
		say("If nothing else ran on the cluster it would fit: %s", p.Empty.Where)
	case len(p.Empty.Why) > 0 && len(p.Why) > 0 && p.Empty.Why[0].Text == p.Why[0].Text:
		say("Nor would it fit if nothing else ran on the cluster.")
	case len(p.Empty.Why) > 0:
		say("Nor would it fit if nothing else ran on the cluster: %s", p.Empty.Why[0].Text)
	}
	if len(p.Gone) > 0 {
		say("With the nodes that are taken away go pods that need a new place: %s.", gangWords(p.Gone))
	}
	for _, note := range p.Notes {
		say("Note: %s.", note)
	}
	return strings.TrimRight(out.String(), "\n") + "\n"
}

func sayWhy(say func(string, ...any), why []story.Sentence) {
	for _, sentence := range why {
		text := sentence.Text
		if sentence.About == story.AboutHelp {
			text = "What helps: " + strings.ToLower(text[:1]) + text[1:]
		}
		say("  %s", text)
	}
}

// maxPlaces is how many lines a role has at most; -o json and -o yaml have all.
const maxPlaces = 12

// placeTable has a line for each role and domain.
func placeTable(out *strings.Builder, p *whatif.Plan) {
	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	row := func(cells ...string) { fmt.Fprintln(table, strings.Join(cells, "\t")) } //nolint:errcheck // a Builder takes all
	row("ROLE", "PODS", "WHERE")
	for _, role := range p.Roles {
		name, pods := role.Name, podWords(role)
		lines := placeLines(role.Places)
		for i, line := range lines {
			if i == maxPlaces && len(lines) > maxPlaces+1 {
				line = fmt.Sprintf("and %d more places (-o yaml has all)", len(lines)-maxPlaces)
			}
			row(name, pods, line)
			if name, pods = "", ""; i == maxPlaces {
				break
			}
		}
	}
	table.Flush() //nolint:errcheck // a Builder takes all
}

// podWords are "4", or "3 of 4" where some are beyond what has room.
func podWords(role whatif.Role) string {
	placed := 0
	for _, place := range role.Places {
		placed += place.Pods
	}
	if placed == role.Pods {
		return strconv.Itoa(placed)
	}
	return fmt.Sprintf("%d of %d", placed, role.Pods)
}

// placeLines are the nodes by domain: "rack-0: node-0 x2, node-1 x2".
func placeLines(places []whatif.Place) (lines []string) {
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
func trafficTable(out *strings.Builder, p *whatif.Plan) {
	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "EACH STEP SENDS\tHERE\tON AN EMPTY CLUSTER") //nolint:errcheck // a Builder takes all
	for _, tier := range p.Traffic {
		best := "-"
		if tier.Best != nil {
			best = trafficWords(*tier.Best, p.Unit)
		}
		fmt.Fprintf(table, "between %s\t%s\t%s\n", tierWords(tier.Tier), trafficWords(tier.Now, p.Unit), best) //nolint:errcheck // as above
	}
	table.Flush() //nolint:errcheck // a Builder takes all
}

// tierWords are the domains of a tier: "nodes", or "domains of tier2" for tiers without a name.
func tierWords(tier string) string {
	if strings.HasPrefix(tier, "tier") {
		return "domains of " + tier
	}
	return strings.TrimSuffix(tier, "s") + "s"
}

// trafficWords are an amount that is sent: "12.5 GiB", or "3 times the model".
func trafficWords(amount float64, unit string) string {
	switch {
	case amount == 0:
		return "nothing"
	case unit != whatif.Bytes:
		return strconv.FormatFloat(amount, 'g', 3, 64) + " times the model"
	}
	units := []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB"}
	at := 0
	for ; amount >= 1024 && at < len(units)-1; at++ {
		amount /= 1024
	}
	return strconv.FormatFloat(amount, 'g', 4, 64) + " " + units[at]
}

// maxGangs is how many jobs of others are named.
const maxGangs = 8

func gangWords(gangs []whatif.Gang) string {
	var words []string
	for i, gang := range gangs {
		if i == maxGangs && len(gangs) > maxGangs+1 {
			words = append(words, fmt.Sprintf("and %d more", len(gangs)-maxGangs))
			break
		}
		pods := "1 pod"
		if gang.Pods != 1 {
			pods = fmt.Sprintf("%d pods", gang.Pods)
		}
		words = append(words, fmt.Sprintf("%s/%s (%s)", gang.Namespace, gang.Name, pods))
	}
	return strings.Join(words, ", ")
}
