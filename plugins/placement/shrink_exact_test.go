// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"fmt"
	"math/rand"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// ranGang is a random gang that runs on a random small cluster.
func ranGang(random *rand.Rand, most int) (*Topology, *Demand) {
	spec := TopologySpec{Resources: []string{"gpu"}, Accelerators: []string{"gpu"}, Tiers: DefaultTiers("rack", "block")}
	for n := range 2 + random.Intn(7) {
		spec.Nodes = append(spec.Nodes, NodeSpec{
			Name: fmt.Sprint("n", n), Domains: []string{fmt.Sprint("r", random.Intn(3)), fmt.Sprint("b", random.Intn(2))}, Free: []int64{0},
		})
	}
	t, err := NewTopology(spec)
	if err != nil {
		panic(err)
	}
	d := &Demand{Pattern: []Pattern{ParameterServer, Collective, Heter}[random.Intn(3)], GroupSize: random.Intn(4)}
	if random.Intn(4) == 0 {
		d.Colocation = Required
	}
	for r, traffic := range []Traffic{Server, Worker, HeterWorker} {
		role := Role{Name: fmt.Sprint("role", r), Traffic: traffic, Stage: 1, Request: []int64{int64(random.Intn(3))}}
		for i := range 1 + random.Intn(most) {
			role.Placed = append(role.Placed, Placed{Index: i, Node: NodeID(random.Intn(t.Nodes()))})
		}
		d.Roles = append(d.Roles, role)
	}
	return t, d
}

// without the members of a role at these positions.
func without(d *Demand, role int, gone []int) *Demand {
	less := *d
	less.Roles = slices.Clone(d.Roles)
	var stay []Placed
	for i, p := range d.Roles[role].Placed {
		if !slices.Contains(gone, i) {
			stay = append(stay, p)
		}
	}
	less.Roles[role].Placed = stay
	return &less
}

// leavesAlone says whether a domain loses its last server and keeps workers.
func leavesAlone(t *Topology, before, after *Demand) bool {
	servers := func(d *Demand, v DomainID, class func(int) bool) (count int) {
		for r := range d.Roles {
			for _, p := range d.Roles[r].Placed {
				if class(d.class(r)) && t.Ancestor(p.Node, d.colocationTier()) == v {
					count++
				}
			}
		}
		return count
	}
	for v := range DomainID(t.Nodes()) {
		is, was := servers(after, v, func(c int) bool { return c == serverClass }), servers(before, v, func(c int) bool { return c == serverClass })
		if before.colocated() && is == 0 && was > 0 && servers(after, v, func(c int) bool { return c > serverClass }) > 0 {
			return true
		}
	}
	return false
}

// best of all choices, by Evaluate.
func bestShrink(t *Topology, d *Demand, role, count int, busy bool) (cost float64, found bool) {
	members := len(d.Roles[role].Placed)
	for mask := range 1 << members {
		var gone []int
		for i := range members {
			if mask>>i&1 == 1 {
				gone = append(gone, i)
			}
		}
		less := without(d, role, gone)
		if len(gone) != count || leavesAlone(t, d, less) {
			continue
		}
		is, err := Evaluate(t, less, nil)
		if err != nil {
			panic(err)
		}
		value := is.Priced
		if busy {
			value = is.BusiestSeconds
		}
		if !found || value < cost {
			cost, found = value, true
		}
	}
	return cost, found
}

func shrunkCost(test *testing.T, t *Topology, d *Demand, role int, members []Member, busy bool) float64 {
	test.Helper()
	gone := make([]int, 0, len(members))
	for _, m := range members {
		gone = append(gone, m.Index)
	}
	less := without(d, role, gone)
	require.False(test, leavesAlone(t, d, less))
	cost, err := Evaluate(t, less, nil)
	require.NoError(test, err)
	if busy {
		return cost.BusiestSeconds
	}
	return cost.Priced
}

func TestShrinkIsBestOfAll(test *testing.T) {
	refused, done := 0, 0
	for seed := range int64(400) {
		random := rand.New(rand.NewSource(seed))
		t, d := ranGang(random, 6)
		role := random.Intn(len(d.Roles))
		count := random.Intn(len(d.Roles[role].Placed) + 1)
		o := Options{Objective: Objective(random.Intn(2))}
		want, possible := bestShrink(t, d, role, count, o.Objective == BusiestFirst)
		members, err := Shrink(t, d, role, count, o)
		if !possible {
			refused++
			require.ErrorContains(test, err, "must keep a server", "seed %d", seed)
			continue
		}
		done++
		require.NoError(test, err, "seed %d", seed)
		require.Len(test, members, count)
		require.InDelta(test, want, shrunkCost(test, t, d, role, members, o.Objective == BusiestFirst), 1e-9, "seed %d", seed)
		again, err := Shrink(t, d, role, count, o)
		require.NoError(test, err)
		require.Equal(test, members, again)
	}
	require.Greater(test, refused, 3)
	require.Greater(test, done, 300)
}

// What is too much for all choices: flows are exact in bytes, as each member's part is its own; a ring is close.
func TestShrinkWithoutAllChoices(test *testing.T) {
	var ratios []float64
	for seed := range int64(2000) {
		random := rand.New(rand.NewSource(seed))
		t, d := ranGang(random, 8)
		role := random.Intn(len(d.Roles))
		s := newShrinking(t, d, role, random.Intn(len(d.Roles[role].Placed))+1, Options{})
		if s.check() != nil || !s.talks {
			continue
		}
		if d.Pattern == Collective {
			s.ring()
		} else {
			s.flows()
		}
		members := make([]Member, 0, s.count)
		for _, i := range s.best {
			members = append(members, Member{Role: role, Index: i})
		}
		require.Len(test, members, s.count)
		want, _ := bestShrink(t, d, role, s.count, false)
		got := shrunkCost(test, t, d, role, members, false)
		if d.Pattern != Collective {
			require.InDelta(test, want, got, 1e-9, "seed %d", seed)
		} else if want > 0 {
			ratios = append(ratios, got/want)
		}
	}
	sum := 0.0
	for _, ratio := range ratios {
		sum += ratio
	}
	require.Greater(test, len(ratios), 20)
	require.Less(test, sum/float64(len(ratios)), 1.1)
}

func TestShrinkALargeGang(test *testing.T) {
	for _, c := range []struct {
		name    string
		pattern Pattern
		gpus    int64
		group   int
	}{{"flows", ParameterServer, 1, 0}, {"ring", Collective, 8, 0}, {"ring with groups", Collective, 8, 64}} {
		test.Run(c.name, func(test *testing.T) {
			spec := TopologySpec{Resources: []string{"gpu"}, Accelerators: []string{"gpu"}, Tiers: DefaultTiers("rack")}
			d := &Demand{Pattern: c.pattern, GroupSize: c.group, Roles: []Role{
				{Name: "ps", Traffic: Server, Request: []int64{0}}, {Name: "worker", Traffic: Worker, Request: []int64{c.gpus}},
			}}
			for i := range 512 {
				spec.Nodes = append(spec.Nodes, NodeSpec{Name: fmt.Sprintf("n%03d", i), Domains: []string{fmt.Sprintf("r%02d", i/16)}, Free: []int64{0}})
				d.Roles[1].Placed = append(d.Roles[1].Placed, Placed{Index: i, Node: NodeID(i)})
				if i%8 == 0 {
					d.Roles[0].Placed = append(d.Roles[0].Placed, Placed{Index: i / 8, Node: NodeID(i)})
				}
			}
			t, err := NewTopology(spec)
			require.NoError(test, err)
			members, err := Shrink(t, d, 1, 256, Options{})
			require.NoError(test, err)
			require.Len(test, members, 256)
			before := shrunkCost(test, t, d, 1, nil, false)
			require.Less(test, shrunkCost(test, t, d, 1, members, false), 0.75*before)
		})
	}
}
