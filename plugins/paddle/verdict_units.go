// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// numerals put amounts of CPU, memory and storage into an explanation's texts in units that people read. The planner
// writes whole numbers of its own units (thousandths, bytes) and names of resources; so its amounts are first replaced by
// numbers that occur nowhere else, and then these in its texts by what they stand for.
type numerals struct {
	measures map[string]measure // by the name of the resource
	texts    []string           // of the numbers from firstNumeral up
}

const firstNumeral = 900_000_000_000_000_000

// inUnits is an explanation with other amounts, of which words makes texts as they are to be read. Amounts are by
// resource; what is needed is rounded up, what there is down.
func inUnits(e *placement.Explanation, resources []string) (marked *placement.Explanation, n *numerals) {
	largest := map[string]float64{}
	visit(e, resources, func(resource string, amount *int64, needed bool) {
		if needed {
			largest[resource] = max(largest[resource], volcanoAmount(resource, *amount))
		}
	})
	n = &numerals{measures: map[string]measure{}}
	for resource, amount := range largest {
		if name := corev1.ResourceName(resource); measurable(name) {
			n.measures[resource] = measureOf(name, amount)
		}
	}
	marked = copied(e)
	if pods := slices.Index(resources, string(corev1.ResourcePods)); pods >= 0 {
		for r := range marked.Roles {
			marked.Roles[r].Request[pods] = 0 // each pod takes one place: that goes without saying
		}
	}
	visit(marked, resources, n.mark)
	return marked, n
}

// measurable resources are not counted in pieces.
func measurable(name corev1.ResourceName) bool {
	return name == corev1.ResourceCPU || name == corev1.ResourceMemory || name == corev1.ResourceEphemeralStorage ||
		strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}

// volcanoAmount is an amount of the planner as Volcano has it.
func volcanoAmount(resource string, amount int64) float64 {
	switch corev1.ResourceName(resource) {
	case corev1.ResourceCPU, corev1.ResourceMemory:
		return float64(amount)
	}
	return 1000 * float64(amount)
}

func (n *numerals) mark(resource string, amount *int64, needed bool) {
	m, ok := n.measures[resource]
	if !ok || *amount <= 0 {
		return
	}
	n.texts = append(n.texts, m.number(volcanoAmount(resource, *amount), needed))
	*amount = firstNumeral + int64(len(n.texts)-1)
}

// words is a text about the marked explanation as it is to be read.
func (n *numerals) words(text string) string {
	lines := strings.Split(text, "\n")
	for l, line := range lines {
		words := strings.Split(n.unmarked(line), " ")
		for i := range words {
			if number := i - 1; number >= 0 {
				if words[number] == "more" && number > 0 {
					number--
				}
				words[i] = n.unit(words[number], words[i])
			}
		}
		lines[l] = strings.Join(words, " ")
	}
	return strings.Join(lines, "\n")
}

// unmarked replaces the marks. Of a text that was cut off the last number may have lost digits: it goes.
func (n *numerals) unmarked(text string) string {
	const digits = "0123456789"
	if cut, found := strings.CutSuffix(text, "..."); found {
		text = strings.TrimRight(cut, digits) + "..."
	}
	var words strings.Builder
	for {
		begin := strings.IndexAny(text, digits)
		if begin < 0 {
			words.WriteString(text)
			return words.String()
		}
		rest := strings.TrimLeft(text[begin:], digits)
		number := text[begin : len(text)-len(rest)]
		words.WriteString(text[:begin])
		if mark, err := strconv.ParseInt(number, 10, 64); err == nil && mark >= firstNumeral && mark-firstNumeral < int64(len(n.texts)) {
			number = n.texts[mark-firstNumeral]
		}
		words.WriteString(number)
		text = rest
	}
}

// unit is what follows a number: the measure's word for the name of a resource.
func (n *numerals) unit(number, word string) string {
	if _, err := strconv.ParseFloat(strings.TrimPrefix(number, "("), 64); err != nil {
		return word
	}
	for resource, m := range n.measures {
		rest, found := strings.CutPrefix(word, resource[strings.LastIndex(resource, "/")+1:])
		switch {
		case !found || strings.Trim(rest, ",;.:)") != "":
		case number == "1":
			return m.one + rest
		default:
			return m.many + rest
		}
	}
	return word
}

// visit calls with each amount of a resource in an explanation, and whether it is needed: else it is there.
func visit(e *placement.Explanation, resources []string, with func(resource string, amount *int64, needed bool)) {
	vector := func(amounts []int64) {
		for r := range amounts {
			with(resources[r], &amounts[r], true)
		}
	}
	for r := range e.Roles {
		vector(e.Roles[r].Request)
	}
	for t := range e.Tiers {
		for b := range e.Tiers[t].Best {
			for s := range e.Tiers[t].Best[b].Stops {
				visitStop(&e.Tiers[t].Best[b].Stops[s], with)
			}
		}
	}
	for r := range e.Relaxations {
		vector(e.Relaxations[r].More)
		for g := range e.Relaxations[r].Grants {
			vector(e.Relaxations[r].Grants[g].Amounts)
		}
	}
}

func visitStop(stop *placement.Stop, with func(resource string, amount *int64, needed bool)) {
	if stop.Resource != "" { // else the numbers are not amounts
		with(stop.Resource, &stop.Free, false)
		with(stop.Resource, &stop.Most, false)
		with(stop.Resource, &stop.Needed, true)
	}
	if stop.Other != "" {
		with(stop.Other, &stop.OtherNeeded, true)
	}
	if stop.Also != nil {
		visitStop(stop.Also, with)
	}
}

// copied is an explanation of which the amounts may be changed.
func copied(e *placement.Explanation) *placement.Explanation {
	c := *e
	c.Roles = slices.Clone(e.Roles)
	for r := range c.Roles {
		c.Roles[r].Request = slices.Clone(c.Roles[r].Request)
	}
	c.Tiers = slices.Clone(e.Tiers)
	for t := range c.Tiers {
		c.Tiers[t].Best = slices.Clone(c.Tiers[t].Best)
		for b := range c.Tiers[t].Best {
			stops := slices.Clone(c.Tiers[t].Best[b].Stops)
			for s := range stops {
				if stops[s].Also != nil {
					also := *stops[s].Also
					stops[s].Also = &also
				}
			}
			c.Tiers[t].Best[b].Stops = stops
		}
	}
	c.Relaxations = slices.Clone(e.Relaxations)
	for r := range c.Relaxations {
		c.Relaxations[r].More = slices.Clone(c.Relaxations[r].More)
		c.Relaxations[r].Grants = slices.Clone(c.Relaxations[r].Grants)
		for g := range c.Relaxations[r].Grants {
			c.Relaxations[r].Grants[g].Amounts = slices.Clone(c.Relaxations[r].Grants[g].Amounts)
		}
	}
	return &c
}
