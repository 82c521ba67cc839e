// SPDX-License-Identifier: Apache-2.0

// Package instances draws random jobs on random topologies from a seed; no placement is chosen or judged here.
//
// Everything comes from math/rand/v2's PCG with the caller's seed and an index, so one instance can be drawn again alone.
package instances

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// Columns of every vector of amounts.
const (
	CPU = iota
	Memory
	GPU
	columns
)

// Resources are the names of the columns.
func Resources() []string { return []string{"cpu", "memory", "nvidia.com/gpu"} }

// Instance is one job on one topology.
type Instance struct {
	Topology *placement.Topology
	Demand   *placement.Demand
	Options  placement.Options
}

func source(seed, index uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, index)) }

// chance is true with probability p.
func chance(rng *rand.Rand, p float64) bool { return rng.Float64() < p }

func pick[T any](rng *rand.Rand, from ...T) T { return from[rng.IntN(len(from))] }

// String draws the tree and the job, for people.
func (in *Instance) String() string {
	var text strings.Builder
	in.showTree(&text, in.Topology.Root(), 0)
	in.showDemand(&text)
	return text.String()
}

// Job draws the job alone.
func (in *Instance) Job() string {
	var text strings.Builder
	in.showDemand(&text)
	return text.String()
}

func (in *Instance) showTree(text *strings.Builder, d placement.DomainID, depth int) {
	t := in.Topology
	indent := strings.Repeat("  ", depth)
	if int(d) < t.Nodes() {
		fmt.Fprintf(text, "%snode %s  cpu %d  memory %d  gpu %d", indent, t.NodeName(placement.NodeID(d)), t.Free(d)[CPU], t.Free(d)[Memory], t.Free(d)[GPU])
		if islands := t.Islands(placement.NodeID(d)); len(islands) > 0 {
			text.WriteString("  islands")
			for _, island := range islands {
				fmt.Fprintf(text, " %d/%d", island.Free, island.Size)
			}
		}
		fmt.Fprintf(text, "  uplink %g\n", t.Bandwidth(d))
		return
	}
	if t.Parent(d) == placement.NoDomain {
		prices := make([]string, 0, len(t.Tiers()))
		for _, tier := range t.Tiers() {
			prices = append(prices, fmt.Sprintf("%s %g", tier.Name, tier.Price))
		}
		fmt.Fprintf(text, "cluster  prices: %s\n", strings.Join(prices, ", "))
	} else {
		fmt.Fprintf(text, "%s%s %s  uplink %g\n", indent, t.Tiers()[t.TierOf(d)].Name, t.DomainName(d), t.Bandwidth(d))
	}
	for lo, hi := t.Children(d); lo < hi; lo++ {
		in.showTree(text, lo, depth+1)
	}
}

func (in *Instance) showDemand(text *strings.Builder) {
	d := in.Demand
	fmt.Fprintf(text, "job: %s, M %g, objective %s", [...]string{"single", "ps", "collective", "heter"}[d.Pattern], d.ParameterBytes,
		[...]string{"bytes", "busiest"}[in.Options.Objective])
	if d.GroupSize > 1 {
		fmt.Fprintf(text, ", groups of %d x%d", d.GroupSize, d.GroupWeight)
	}
	if d.HighestTier > 0 {
		fmt.Fprintf(text, ", within one %s", in.Topology.Tiers()[d.HighestTier].Name)
	}
	if d.Colocation == placement.Required {
		fmt.Fprintf(text, ", workers only where servers are (tier %d)", d.ColocationTier)
	}
	text.WriteString("\n")
	for i := range d.Roles {
		role := &d.Roles[i]
		fmt.Fprintf(text, "  role %s: request cpu %d memory %d gpu %d, pending %v, minimum %d", role.Name,
			role.Request[CPU], role.Request[Memory], role.Request[GPU], role.Pending, role.Minimum)
		for _, member := range role.Placed {
			fmt.Fprintf(text, ", %d is on %s", member.Index, in.Topology.NodeName(member.Node))
		}
		if role.Eligible != nil {
			var names []string
			for n := range in.Topology.Nodes() {
				if role.Eligible.Has(placement.NodeID(n)) {
					names = append(names, in.Topology.NodeName(placement.NodeID(n)))
				}
			}
			fmt.Fprintf(text, ", eligible %v", names)
		}
		text.WriteString("\n")
	}
}

// Pods of the job, placed ones included.
func (in *Instance) Pods() int {
	pods := 0
	for r := range in.Demand.Roles {
		pods += len(in.Demand.Roles[r].Pending) + len(in.Demand.Roles[r].Placed)
	}
	return pods
}
