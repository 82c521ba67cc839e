// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

const (
	mib = 1 << 20
	gib = 1 << 30
)

// Shortage is that less of a resource is available somewhere than is requested. Amounts are Volcano's: memory in bytes,
// everything else in thousandths.
type Shortage struct {
	Name                 corev1.ResourceName
	Available, Requested float64
}

// Sentence returns how much there is, where, of what is needed: "rack r3 has capacity for 6 of the 8 GPUs that the workers need".
func (s Shortage) Sentence(where, need string) string {
	unit := unitFor(s.Name, s.Requested)
	available := unit.number(s.Available, false)
	if available == "0" {
		available = "none"
	}
	return fmt.Sprintf("%s has capacity for %s of the %s that %s", where, available, unit.format(s.Requested), need)
}

// Resource returns the shortage as data.
func (s Shortage) Resource() Resource {
	return Resource{Name: string(s.Name), Requested: Quantity(s.Name, s.Requested), Available: Quantity(s.Name, max(0, s.Available))}
}

// FormatResources returns requested amounts, the scarcest resource first: "8 GPUs, 16 CPUs and 64 GiB of memory".
func FormatResources(amounts map[corev1.ResourceName]float64) string {
	var parts []string
	for _, name := range SortResources(slices.Collect(maps.Keys(amounts))) {
		parts = append(parts, unitFor(name, amounts[name]).format(amounts[name]))
	}
	return List(parts)
}

// SortResources sorts resources by scarcity: devices by name, CPU, memory, storage, pods.
func SortResources(names []corev1.ResourceName) []corev1.ResourceName {
	common := []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage, corev1.ResourcePods}
	slices.SortFunc(names, func(a, b corev1.ResourceName) int {
		return cmp.Or(cmp.Compare(slices.Index(common, a), slices.Index(common, b)), cmp.Compare(a, b))
	})
	return names
}

// Quantity returns an amount as a quantity of Kubernetes.
func Quantity(name corev1.ResourceName, amount float64) string {
	switch {
	case name == corev1.ResourceMemory:
		return resource.NewQuantity(int64(amount), resource.BinarySI).String()
	case unitFor(name, amount).parts == 1: // whole pieces, also where overcommit counts fractions of them
		return resource.NewQuantity(int64(amount/1000), resource.DecimalSI).String()
	}
	return resource.NewMilliQuantity(int64(amount), resource.DecimalSI).String()
}

// unit is the unit in which amounts of a resource are written.
type unit struct {
	one, many string // the noun after 1 and after other numbers
	size      float64
	parts     float64 // the most parts into which one unit is divided when a number is rounded
}

// unitFor returns the unit for a resource by the largest amount of it that is to be written.
func unitFor(name corev1.ResourceName, largest float64) unit {
	bytes := func(size float64, of string) unit {
		if largest < gib*size {
			return unit{"MiB" + of, "MiB" + of, mib * size, 10}
		}
		return unit{"GiB" + of, "GiB" + of, gib * size, 10}
	}
	switch {
	case name == corev1.ResourceCPU && largest < 10*1000:
		return unit{"CPU", "CPUs", 1000, 1000}
	case name == corev1.ResourceCPU:
		return unit{"CPU", "CPUs", 1000, 10}
	case name == corev1.ResourceMemory:
		return bytes(1, " of memory")
	case name == corev1.ResourceEphemeralStorage:
		return bytes(1000, " of disk")
	case strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix):
		return bytes(1000, " of "+string(name))
	}
	text := string(name)
	if word := strings.ToUpper(text[strings.LastIndex(text, "/")+1:]); slices.Contains([]string{"GPU", "NPU", "XPU", "TPU"}, word) {
		return unit{word, word + "s", 1000, 1}
	}
	return unit{text, text, 1000, 1}
}

// number returns an amount in the unit. Requested amounts are rounded up, available ones down. Negative amounts are 0.
func (u unit) number(amount float64, up bool) string {
	const exact = 1e-3 // sums of decimal fractions are a little off
	parts := math.Floor((amount + exact) / u.size * u.parts)
	if up {
		parts = math.Ceil((amount - exact) / u.size * u.parts)
	}
	return strconv.FormatFloat(max(0, parts/u.parts), 'f', -1, 64)
}

// format returns a requested amount with its unit: "8 GPUs".
func (u unit) format(requested float64) string {
	number := u.number(requested, true)
	if number == "1" {
		return number + " " + u.one
	}
	return number + " " + u.many
}

// Plural returns the noun for n things.
func Plural(n int, noun string) string { return English.Plural(n, noun) }

// List returns a list such as "a, b and c".
func List(parts []string) string { return English.List(parts) }

// Domains returns the noun for n domains of a tier. Tiers that are called by a number are no nouns.
func Domains(n int, tier string) string {
	if strings.HasPrefix(tier, "tier") {
		return Plural(n, "domain") + " of " + tier
	}
	return Plural(n, tier)
}

// Place returns a domain of a tier: "rack r1", "domain s1 of tier 1", "the cluster".
func Place(tier, domain string) string {
	switch {
	case domain == tier: // the root
		return "the " + domain
	case strings.HasPrefix(tier, "tier"):
		return "domain " + domain + " of " + tier
	}
	return tier + " " + domain
}

// tierLabel returns a tier as a limit: "tier rack", "tier 1".
func tierLabel(tier string) string { return "tier " + strings.TrimPrefix(tier, "tier ") }

// Shorten returns at most the given number of bytes of a text: whole lines as far as they fit, else whole characters.
func Shorten(text string, most int) string {
	const more = "..."
	if len(text) <= most {
		return text
	}
	kept := strings.ToValidUTF8(text[:most-len(more)], "")
	if line := strings.LastIndexByte(kept, '\n'); line > 0 {
		kept = kept[:line+1]
	}
	return kept + more
}

// The functions below return causes for which the planner finds no plan. where is a Place, tier the name of a tier.

// NotEligible returns that a role may not use enough of the nodes.
func NotEligible(eligible, nodes int, where, role string) string {
	return fmt.Sprintf("%d of %d nodes of %s are eligible for a %s", eligible, nodes, where, role)
}

// NoServer returns that some workers have no server near them.
func NoServer(role, tier string) string {
	return fmt.Sprintf("each %s must have a server in its %s (colocation Required)", role, tier)
}

// RunningApart returns that running pods break a limit.
func RunningApart(tier string) string { return "the running pods are not in one " + Domains(1, tier) }

// NotFound returns that nothing is known to be in the way.
func NotFound(where string) string {
	return "no plan was found, though " + where + " seems to have capacity for all"
}

// Limited returns a cause that holds within one domain of a tier, by the tier's label.
func Limited(cause, tier string) string {
	return cause + " (networkTopology hard, " + tierLabel(tier) + ")"
}
