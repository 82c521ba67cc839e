// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Spec describes a cluster; New builds a Topology of it.
type Spec struct {
	// Resources name the columns of every vector of amounts, for example cpu, memory, pods, nvidia.com/gpu.
	Resources []string
	// Accelerators are those of Resources that count whole GPUs (or NPUs): their sum is a pod's number of GPUs.
	Accelerators []string
	// Tiers from island and node upwards; DefaultTiers gives them.
	Tiers []Tier
	Nodes []NodeSpec
}

// NodeSpec is one node.
type NodeSpec struct {
	Name string
	// Domains that the node is in, one for each tier above the node, nearest first. A domain is named by its whole path:
	// equal rack names in two blocks are two racks. "" means that this tier is not known: the node, or the domain below,
	// is then a separate domain.
	Domains []string
	// Free amounts, one for each resource, in whole units of the caller's choice. Below 0 counts as 0.
	Free []int64
	// Islands of the node; their free GPUs sum to the free accelerators. None means one island with all GPUs.
	Islands []Island
}

// Island is a set of GPUs that are joined by links much faster than the node's bus.
type Island struct{ Size, Free int }

// Bounds of a Spec. MaxIslands are those of one node; sums of some amounts of MaxAmount do not overflow.
const (
	maxTiers     = 16
	maxResources = 256
	MaxAmount    = math.MaxInt64 / 1024
	MaxIslands   = 64
)

func (s *Spec) check() error {
	switch {
	case len(s.Resources) == 0 || len(s.Resources) > maxResources:
		return fmt.Errorf("%d resources, want 1 to %d", len(s.Resources), maxResources)
	case len(s.Tiers) < 2 || len(s.Tiers) > maxTiers:
		return fmt.Errorf("%d tiers, want 2 (island and node) to %d", len(s.Tiers), maxTiers)
	case len(s.Nodes) == 0:
		return errors.New("no nodes")
	case len(s.Nodes) > math.MaxInt32/maxTiers:
		return fmt.Errorf("%d nodes are too many", len(s.Nodes))
	}
	for i, tier := range s.Tiers {
		if err := tier.check(); err != nil {
			return err
		}
		if i > 0 && slices.ContainsFunc(s.Tiers[:i], func(t Tier) bool { return t.Name == tier.Name }) {
			return fmt.Errorf("two tiers are called %q", tier.Name)
		}
	}
	for i, name := range s.Resources {
		if name == "" || slices.Contains(s.Resources[:i], name) {
			return fmt.Errorf("resource %q: names must be set and unique", name)
		}
	}
	for _, name := range s.Accelerators {
		if !slices.Contains(s.Resources, name) {
			return fmt.Errorf("accelerator %q is not one of the resources", name)
		}
	}
	seen := make(map[string]bool, len(s.Nodes))
	for i := range s.Nodes {
		node := &s.Nodes[i]
		if seen[node.Name] {
			return fmt.Errorf("two nodes are called %q", node.Name)
		}
		seen[node.Name] = true
		if err := s.checkNode(node); err != nil {
			return fmt.Errorf("node %q: %w", node.Name, err)
		}
	}
	return nil
}

func (s *Spec) checkNode(node *NodeSpec) error {
	switch {
	case node.Name == "":
		return errors.New("it has no name")
	case len(node.Domains) != len(s.Tiers)-2:
		return fmt.Errorf("it is in %d domains, want one for each of the %d tiers above the node", len(node.Domains), len(s.Tiers)-2)
	case len(node.Islands) > MaxIslands:
		return fmt.Errorf("%d islands, want %d at most", len(node.Islands), MaxIslands)
	}
	for _, name := range node.Domains {
		if strings.Contains(name, pathSeparator) {
			return fmt.Errorf("domain %q has a %q in its name, which separates the domains of a path", name, pathSeparator)
		}
	}
	if err := CheckAmounts(node.Free, len(s.Resources)); err != nil {
		return err
	}
	return checkIslands(node.Islands, s.gpus(node.Free))
}

// CheckAmounts returns an error unless there is one amount in range for each resource.
func CheckAmounts(amounts []int64, resources int) error {
	if len(amounts) != resources {
		return fmt.Errorf("%d amounts, want one for each of the %d resources", len(amounts), resources)
	}
	for _, amount := range amounts {
		if amount > MaxAmount || amount < -MaxAmount {
			return fmt.Errorf("amount %d is out of range", amount)
		}
	}
	return nil
}

func checkIslands(islands []Island, gpus int64) error {
	if len(islands) == 0 {
		return nil
	}
	var free int64
	for _, island := range islands {
		if island.Free < 0 || island.Size < island.Free || island.Size > math.MaxInt16 {
			return fmt.Errorf("an island has %d of %d GPUs free", island.Free, island.Size)
		}
		free += int64(island.Free)
	}
	if free != gpus {
		return fmt.Errorf("%d GPUs are free in its islands, and %d in all", free, gpus)
	}
	return nil
}

func (s *Spec) gpus(amounts []int64) int64 {
	var sum int64
	for i, name := range s.Resources {
		if slices.Contains(s.Accelerators, name) {
			sum += max(0, amounts[i])
		}
	}
	return sum
}

// The two tiers that every topology has. Those above are its own: racks, blocks and so on, up to the root, which has no
// uplink and is no tier.
const (
	// IslandTier are sets of a node's GPUs that are joined by NVLink or similar links.
	IslandTier = 0
	// NodeTier are the nodes.
	NodeTier = 1
)

// Tier is one level of the tree: all domains that are equally far from the root.
type Tier struct {
	// Name is for users, in the singular: "rack".
	Name string
	// Weight of one byte that crosses the border of a domain of this tier, relative to other tiers; 0 or more.
	Weight float64
	// Bandwidth of one direction of a domain's uplink, in bytes per second. 0 means 1: only ratios matter for a choice.
	Bandwidth float64
}

// DefaultTiers are island and node, and then a tier for each name, nearest first. Weights grow fourfold from tier to
// tier, 1 at the node; bandwidths are 0.
func DefaultTiers(above ...string) []Tier {
	tiers := []Tier{{Name: "island", Weight: 0.25}, {Name: "node", Weight: 1}}
	for _, name := range above {
		tiers = append(tiers, Tier{Name: name, Weight: 4 * tiers[len(tiers)-1].Weight})
	}
	return tiers
}

// WeightUnit is what a weight of 1 is in the planner's integers. Integers keep sums exact, so that ties are ties.
const WeightUnit = 1 << 10

// maxWeight keeps a plan's cost far below the largest int64.
const maxWeight = 1 << 14

func (t Tier) check() error {
	switch {
	case t.Name == "":
		return errors.New("a tier has no name")
	case math.IsNaN(t.Weight) || t.Weight < 0 || t.Weight > maxWeight:
		return fmt.Errorf("tier %q has weight %v, want 0 to %d", t.Name, t.Weight, maxWeight)
	case math.IsNaN(t.Bandwidth) || math.IsInf(t.Bandwidth, 0) || t.Bandwidth < 0:
		return fmt.Errorf("tier %q has bandwidth %v, want 0 or more bytes per second", t.Name, t.Bandwidth)
	}
	return nil
}

func (t Tier) integerWeight() int64 { return int64(math.Round(t.Weight * WeightUnit)) }

// EffectiveBandwidth is the bandwidth in bytes per second, 1 where none is given.
func (t Tier) EffectiveBandwidth() float64 {
	if t.Bandwidth > 0 {
		return t.Bandwidth
	}
	return 1
}

// islands are the GPU islands of all nodes. A node without islands has one with all of its GPUs; nothing is stored for it.
type islands struct {
	lo   []int32 // of each node, and one more: where its islands begin
	size []int16
	free []int16
}

func (s *islands) build(nodes []placed, accelerators []int) {
	s.lo = make([]int32, len(nodes)+1)
	for i, node := range nodes {
		s.lo[i+1] = s.lo[i]
		if count := len(node.spec.Islands); count > 1 && len(accelerators) > 0 { // one island is the node itself
			s.lo[i+1] += int32(count)
		}
	}
	s.size, s.free = make([]int16, s.lo[len(nodes)]), make([]int16, s.lo[len(nodes)])
}

func (s *islands) set(node NodeID, specs []Island) {
	free, lo := s.of(node), s.lo[node]
	for i := range free {
		s.size[int(lo)+i] = int16(specs[i].Size)
		free[i] = int16(specs[i].Free)
	}
}

// of are the free GPUs of each island of a node; empty where the node is one island.
func (s *islands) of(node NodeID) []int16 { return s.free[s.lo[node]:s.lo[node+1]] }

func (s *islands) sizes(node NodeID) []int16 { return s.size[s.lo[node]:s.lo[node+1]] }

// AssignGPUs takes gpus from islands with the given free GPUs, as the kubelet's device plugins prefer to: from the
// fullest island that holds them all; else from the emptiest islands, as few as will do. It changes free, and appends
// the island of each GPU to picked. Ties end in the lower number. GPUs that are not there are not picked.
func AssignGPUs(free []int16, gpus int, picked []uint8) []uint8 {
	for gpus > 0 {
		best := -1
		for i, f := range free {
			switch {
			case f == 0:
			case best < 0, int(free[best]) < gpus && f > free[best], int(f) >= gpus && f < free[best]:
				best = i
			}
		}
		if best < 0 {
			return picked
		}
		for free[best] > 0 && gpus > 0 {
			free[best]--
			gpus--
			picked = append(picked, uint8(best))
		}
	}
	return picked
}

// IslandsNeeded returns the least number of islands, of an empty node, that gpus need.
func IslandsNeeded(sizes []int16, gpus int) int {
	sorted := slices.Clone(sizes)
	slices.Sort(sorted)
	needed := 0
	for i := len(sorted) - 1; i >= 0 && gpus > 0; i-- {
		gpus -= int(sorted[i])
		needed++
	}
	return needed
}

// FreeIslands are the free GPUs of each island of a node; empty where the node is one island. The caller must not change them.
func (t *Topology) FreeIslands(node NodeID) []int16 { return t.gpus.of(node) }

// IslandSizes are the GPUs of each island of a node, free or not; empty where the node is one island.
func (t *Topology) IslandSizes(node NodeID) []int16 { return t.gpus.sizes(node) }

// AllIslands are the free GPUs of the islands of all nodes, node by node.
func (t *Topology) AllIslands() []int16 { return t.gpus.free }

// IslandRange is where the islands of a node are in AllIslands: from lo up to but not including hi.
func (t *Topology) IslandRange(node NodeID) (lo, hi int) {
	return int(t.gpus.lo[node]), int(t.gpus.lo[node+1])
}

// Islands of a node with their sizes and free GPUs; none where the node is one island. The caller may change them.
func (t *Topology) Islands(node NodeID) []Island {
	sizes, free := t.gpus.sizes(node), t.gpus.of(node)
	if len(sizes) == 0 {
		return nil
	}
	islands := make([]Island, len(sizes))
	for i := range sizes {
		islands[i] = Island{Size: int(sizes[i]), Free: int(free[i])}
	}
	return islands
}

// PickIslands takes a pod's GPUs from a node's islands as Take does and as the cost of a plan has it: it lowers their
// free GPUs and gives the island of each GPU, a position in islands. GPUs that are not free are in no island: the result
// is then shorter than gpus.
func PickIslands(islands []Island, gpus int) []int {
	free := make([]int16, len(islands))
	for i := range islands {
		free[i] = int16(max(0, min(islands[i].Free, math.MaxInt16)))
	}
	picked := AssignGPUs(free, gpus, nil)
	of := make([]int, len(picked))
	for i := range picked {
		of[i] = int(picked[i])
		islands[of[i]].Free--
	}
	return of
}
