// SPDX-License-Identifier: Apache-2.0

package instances

import (
	"fmt"
	"slices"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// Source gives a number from 0 to n-1: a random one, or what the bytes of a fuzzer say.
type Source func(n int) int

// Limits of a small instance.
type Limits struct {
	Nodes int
	// Pods of the job, about: each role has one at least.
	Pods int
	// Varied instances have more resources, weights, lower minimums, and often just enough capacity.
	Varied bool
}

// Brute is what brute force can solve.
var Brute = Limits{Nodes: 8, Pods: 10, Varied: true}

// Small draws a job of any pattern on a few nodes of unequal free capacity, in up to two tiers above the nodes.
func Small(draw Source, limits Limits) *Instance {
	in := &Instance{Spec: smallCluster(draw, limits.Nodes)}
	in.Topology = build(in.Spec)
	in.Demand = smallDemand(draw, in.Topology, limits.Pods)
	in.Options.Objective = placement.Objective(draw(2))
	if limits.Varied {
		in.vary(draw)
		in.Topology = build(in.Spec)
	}
	return in
}

// Drawn returns the small instance of a seed and an index.
func Drawn(seed, index uint64, limits Limits) *Instance {
	return Small(source(seed, index).IntN, limits)
}

func smallCluster(draw Source, most int) placement.TopologySpec {
	tiers := placement.DefaultTiers([][]string{nil, {"rack"}, {"rack", "block"}}[draw(3)]...)
	for i := range tiers {
		tiers[i].Bandwidth = float64(draw(3))
	}
	spec := placement.TopologySpec{Resources: []string{"cpu", "gpu"}, Accelerators: []string{"gpu"}, Tiers: tiers}
	for i := range 2 + draw(max(7, most-1)) {
		node := placement.NodeSpec{Name: fmt.Sprint("n", i), Free: []int64{int64(2 + draw(9)), int64(draw(7))}}
		for tier := range len(tiers) - 2 {
			node.Domains = append(node.Domains, fmt.Sprint("d", draw(3-tier)))
		}
		if draw(3) == 0 {
			node.Islands = halves(node.Free[1])
		}
		spec.Nodes = append(spec.Nodes, node)
	}
	spec.Nodes = spec.Nodes[:min(len(spec.Nodes), most)]
	return spec
}

// halves returns two islands of 4 GPUs or more.
func halves(free int64) []placement.Island {
	half := int(free) / 2
	return []placement.Island{{Size: max(4, half), Free: half}, {Size: max(4, int(free)-half), Free: int(free) - half}}
}

func smallDemand(draw Source, topology *placement.Topology, most int) *placement.Demand {
	d := &placement.Demand{Pattern: placement.Pattern(draw(4)), GroupSize: draw(4)}
	draw(40) // unused, so that a seed still draws the same instances
	if draw(3) == 0 {
		d.HighestTier = 1 + draw(len(topology.Tiers())-1)
	}
	if draw(3) == 0 {
		d.Colocation, d.ColocationTier = placement.Colocation(draw(3)), 1+draw(len(topology.Tiers())-1)
	}
	names := [][]string{{"ps", "worker"}, {"worker"}, {"worker", "ps"}, {"ps", "worker", "silent"}, {"worker", "worker"}, {"ps", "worker", "heter1"}}
	for _, name := range names[draw(len(names))] {
		traffic := map[string]placement.CommRole{"ps": placement.Server, "worker": placement.Worker, "heter1": placement.PipelineWorker}[name]
		pods := 1 + draw(most)
		role := placement.Role{Name: name, CommRole: traffic, Stage: 1, Minimum: pods, Pending: upTo(pods), Request: []int64{int64(draw(4)), int64(draw(3))}}
		most = max(1, most-pods)
		if draw(4) == 0 {
			role.Pending = role.Pending[1:]
			role.Placed = []placement.Placed{{Index: 0, Node: placement.NodeID(draw(topology.Nodes()))}}
		}
		if draw(4) == 0 {
			role.Eligible = placement.NewNodeSet(topology)
		}
		if draw(3) == 0 {
			role.Penalty = make([]int32, topology.Nodes())
		}
		for n := range topology.Nodes() {
			if role.Eligible != nil && draw(4) > 0 {
				role.Eligible.Add(placement.NodeID(n))
			}
			if role.Penalty != nil {
				role.Penalty[n] = int32(draw(3))
			}
		}
		d.Roles = append(d.Roles, role)
	}
	return d
}

// vary adds what the plain instance lacks. Weights are fractions of a power of two, so that sums of them are exact.
func (in *Instance) vary(draw Source) {
	d := in.Demand
	d.ParameterBytes = []float64{0, 1, 3e8}[draw(3)]
	draw(3) // unused, as above
	if draw(5) == 0 {
		for i := range in.Spec.Tiers {
			in.Spec.Tiers[i].Weight = []float64{0, 0.25, 0.5, 1, 2, 4, 10, 16}[draw(8)]
		}
	}
	if draw(5) == 0 {
		draw(int(in.Topology.Root())) // unused, as above
		draw(4)
	}
	for _, name := range []string{"npu", "memory"} {
		if draw(4) == 0 {
			in.addResource(draw, name)
		}
	}
	if draw(4) == 0 {
		in.settle(draw)
	}
	if draw(5) > 1 {
		in.plant(draw)
	}
	for r := range d.Roles {
		if draw(8) == 0 {
			d.Roles[r].Minimum = draw(1 + d.Roles[r].Minimum)
		}
	}
	for i := range in.Spec.Nodes {
		if node := &in.Spec.Nodes[i]; node.Islands != nil {
			node.Islands = halves(in.gpus(node.Free))
		}
	}
}

// settle lets some members run already, and takes a few away, so that indexes have gaps.
func (in *Instance) settle(draw Source) {
	for r := range in.Demand.Roles {
		role := &in.Demand.Roles[r]
		role.Pending = slices.DeleteFunc(role.Pending, func(index int) bool {
			switch draw(9) {
			case 0:
				role.Minimum--
				return true
			case 1, 2:
				role.Placed = append(role.Placed, placement.Placed{Index: index, Node: placement.NodeID(draw(in.Topology.Nodes()))})
				return true
			default:
				return false
			}
		})
	}
}

func (in *Instance) addResource(draw Source, name string) {
	in.Spec.Resources = append(in.Spec.Resources, name)
	if name == "npu" {
		in.Spec.Accelerators = append(in.Spec.Accelerators, name)
	}
	for i := range in.Spec.Nodes {
		in.Spec.Nodes[i].Free = append(in.Spec.Nodes[i].Free, int64(draw(7)))
	}
	for r := range in.Demand.Roles {
		in.Demand.Roles[r].Request = append(in.Demand.Roles[r].Request, int64(draw(3)))
	}
}

// plant gives nodes as much as a hidden placement on some of them needs, and one of them a little more.
func (in *Instance) plant(draw Source) {
	nodes := in.Spec.Nodes
	for i := range nodes {
		clear(nodes[i].Free)
	}
	some := make([]int, 2+draw(4))
	for i := range some {
		some[i] = draw(len(nodes))
	}
	for r := range in.Demand.Roles {
		role := &in.Demand.Roles[r]
		for range role.Pending {
			i := some[draw(len(some))]
			add(nodes[i].Free, role.Request)
			if id, _ := in.Topology.Node(nodes[i].Name); role.Eligible != nil {
				role.Eligible.Add(id)
			}
		}
	}
	for range draw(4) {
		add(nodes[draw(len(nodes))].Free, in.Demand.Roles[draw(len(in.Demand.Roles))].Request)
	}
}

func (in *Instance) gpus(amounts []int64) (sum int64) {
	for i, name := range in.Spec.Resources {
		if slices.Contains(in.Spec.Accelerators, name) {
			sum += amounts[i]
		}
	}
	return sum
}

func add(to, amounts []int64) {
	for c, amount := range amounts {
		to[c] += amount
	}
}

func upTo(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

func build(spec placement.TopologySpec) *placement.Topology {
	t, err := placement.NewTopology(spec)
	if err != nil {
		panic(fmt.Errorf("a drawn topology is not valid: %w", err))
	}
	return t
}
