// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// TopologySpec describes a cluster; NewTopology builds a Topology of it.
type TopologySpec struct {
	// Resources name the columns of every vector of amounts, for example cpu, memory, pods, nvidia.com/gpu.
	Resources []string
	// Accelerators are those of Resources that count whole GPUs (or NPUs): their sum is a pod's number of GPUs.
	Accelerators []string
	// Tiers from island and node upwards; DefaultTiers gives them.
	Tiers []Tier
	Nodes []NodeSpec
	// Uplinks that are not as wide as their tier says.
	Uplinks []Uplink
}

// NodeSpec is one node.
type NodeSpec struct {
	Name string
	// Domains that the node is in, one for each tier above the node, nearest first. A domain is named by its whole path:
	// equal rack names in two blocks are two racks. "" means that this tier is not known: the node, or the domain below,
	// is then a domain of its own.
	Domains []string
	// Free amounts, one for each resource, in whole units of the caller's choice. Below 0 counts as 0.
	Free []int64
	// Islands of the node; their free GPUs sum to the free accelerators. None means one island with all GPUs.
	Islands []Island
}

// Island is a set of GPUs that are joined by links much faster than the node's bus.
type Island struct{ Size, Free int }

// Uplink gives one domain a bandwidth of its own.
type Uplink struct {
	// Tier and Path of the domain; Path from the highest tier down, joined by "/", as DomainName gives it.
	Tier      int
	Path      string
	Bandwidth float64
}

const (
	maxTiers     = 16
	maxResources = 256
	maxAmount    = math.MaxInt64 / 1024
	maxIslands   = 64
)

func (s *TopologySpec) check() error {
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
			return fmt.Errorf("resource %q: names must be there, and differ", name)
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

func (s *TopologySpec) checkNode(node *NodeSpec) error {
	switch {
	case node.Name == "":
		return errors.New("it has no name")
	case len(node.Domains) != len(s.Tiers)-2:
		return fmt.Errorf("it is in %d domains, want one for each of the %d tiers above the node", len(node.Domains), len(s.Tiers)-2)
	case len(node.Islands) > maxIslands:
		return fmt.Errorf("%d islands, want %d at most", len(node.Islands), maxIslands)
	}
	for _, name := range node.Domains {
		if strings.Contains(name, pathSeparator) {
			return fmt.Errorf("domain %q has a %q in its name, which separates the domains of a path", name, pathSeparator)
		}
	}
	if err := checkAmounts(node.Free, len(s.Resources)); err != nil {
		return err
	}
	return checkIslands(node.Islands, s.gpus(node.Free))
}

func checkAmounts(amounts []int64, resources int) error {
	if len(amounts) != resources {
		return fmt.Errorf("%d amounts, want one for each of the %d resources", len(amounts), resources)
	}
	for _, amount := range amounts {
		if amount > maxAmount || amount < -maxAmount {
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

// gpus of a vector of amounts.
func (s *TopologySpec) gpus(amounts []int64) int64 {
	var sum int64
	for i, name := range s.Resources {
		if slices.Contains(s.Accelerators, name) {
			sum += max(0, amounts[i])
		}
	}
	return sum
}
