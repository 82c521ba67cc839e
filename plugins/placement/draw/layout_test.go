// SPDX-License-Identifier: Apache-2.0

package draw

import (
	"encoding/xml"
	"fmt"
	"math/rand"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// anyScene is a random plan on a random cluster of some tiers above its nodes: pods are anywhere.
func anyScene(t *testing.T, random *rand.Rand) *scene {
	tiers := []string{"rack", "block", "core"}[:random.Intn(4)]
	spec := placement.TopologySpec{
		Resources: []string{"cpu", "gpu"}, Accelerators: []string{"gpu"}, Tiers: placement.DefaultTiers(tiers...),
	}
	for i := range 1 + random.Intn(300) {
		node := placement.NodeSpec{Name: fmt.Sprintf("node-%d", i), Free: []int64{64, 0}}
		for range tiers {
			node.Domains = append(node.Domains, strconv.Itoa(random.Intn(6)))
		}
		for range random.Intn(3) * random.Intn(2) {
			size := random.Intn(9)
			island := placement.Island{Size: size, Free: random.Intn(size + 1)}
			node.Islands = append(node.Islands, island)
			node.Free[1] += int64(island.Free)
		}
		spec.Nodes = append(spec.Nodes, node)
	}
	topology, err := placement.NewTopology(spec)
	require.NoError(t, err)
	d := &placement.Demand{Pattern: placement.Pattern(random.Intn(4))}
	plan := &placement.Plan{}
	for r, traffic := range []placement.Traffic{placement.Server, placement.Worker, placement.Silent} {
		role := placement.Role{Name: fmt.Sprint("role-", r), Traffic: traffic, Request: []int64{1, int64(random.Intn(6))}}
		for index := range random.Intn(200) {
			node := placement.NodeID(random.Intn(topology.Nodes()))
			if random.Intn(4) == 0 {
				role.Placed = append(role.Placed, placement.Placed{Index: index, Node: node})
				continue
			}
			role.Pending = append(role.Pending, index)
			plan.Assignments = append(plan.Assignments, placement.Assignment{Role: r, Index: index, Node: node})
		}
		d.Roles = append(d.Roles, role)
	}
	plan.Cost, err = placement.Evaluate(topology, d, plan.Assignments)
	require.NoError(t, err)
	s, err := newScene(topology, d, plan, Options{})
	require.NoError(t, err)
	return s
}

type rectangle struct{ x, y, w, h int }

func (r rectangle) apart(o rectangle) bool {
	return r.x+r.w <= o.x || o.x+o.w <= r.x || r.y+r.h <= o.y || o.y+o.h <= r.y
}

func (r rectangle) inside(o rectangle) bool {
	return o.x <= r.x && r.x+r.w <= o.x+o.w && o.y <= r.y && r.y+r.h <= o.y+o.h
}

func TestBoxesAreInsideTheirParentsAndApart(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	for range 100 {
		s := anyScene(t, random)
		if len(s.pods) == 0 {
			continue
		}
		tree := s.layout()
		tree.place(margin, margin, s)
		nodes := 0
		var walk func(*box)
		walk = func(b *box) {
			if b.node != nil {
				nodes++
				contentIsApart(t, s, b)
				return
			}
			whole := rectangle{b.x + inset, b.y + boxHeader, b.w - inset - frame, b.h - boxHeader - frame}
			var all []rectangle
			for _, row := range b.rows {
				for _, inner := range row {
					all = append(all, rectangle{inner.x, inner.y - s.scale.stub, inner.w, inner.h + s.scale.stub})
					walk(inner)
				}
			}
			if height := restHeight(b.rest); b.rest != nil {
				all = append(all, rectangle{whole.x, whole.y + whole.h - height, whole.w, height})
			}
			allApart(t, all, whole)
		}
		walk(tree)
		require.Equal(t, len(s.pods), nodes, "each node with pods is there")
	}
}

func contentIsApart(t *testing.T, s *scene, b *box) {
	var all []rectangle
	for _, island := range b.node.islands {
		rows := (len(island.group) + island.columns - 1) / island.columns
		all = append(all, rectangle{island.x, island.y, s.cells(island.columns), s.cells(rows)})
	}
	for _, chip := range b.node.chips {
		all = append(all, rectangle{chip.x, chip.y, chip.w, s.scale.chip})
	}
	allApart(t, all, rectangle{s.scale.pad, s.scale.header, b.w - 2*s.scale.pad, b.h - s.scale.header})
}

func allApart(t *testing.T, all []rectangle, whole rectangle) {
	for i, r := range all {
		require.True(t, r.inside(whole), "%v in %v", r, whole)
		for _, other := range all[:i] {
			if !r.apart(other) {
				require.Fail(t, "boxes overlap", "%v and %v", r, other)
			}
		}
	}
}

func TestAnyPlanIsDrawn(t *testing.T) {
	random := rand.New(rand.NewSource(2))
	for range 20 {
		s := anyScene(t, random)
		svg, err := SVG(s.t, s.d, s.plan, Options{})
		require.NoError(t, err)
		require.NoError(t, xml.Unmarshal(svg, new(struct{})))
		again, err := SVG(s.t, s.d, s.plan, Options{})
		require.NoError(t, err)
		require.Equal(t, svg, again)
	}
}

func TestPack(t *testing.T) {
	for name, c := range map[string]struct {
		widths []int
		most   int
		want   []int // boxes of each row
	}{
		"one":                     {[]int{100}, 500, []int{1}},
		"two":                     {[]int{100, 100}, 500, []int{2}},
		"eight":                   {[]int{100, 100, 100, 100, 100, 100, 100, 100}, 900, []int{4, 4}},
		"no wider than it may be": {[]int{100, 100, 100, 100}, 150, []int{1, 1, 1, 1}},
		"a box that is too wide":  {[]int{300, 100}, 150, []int{1, 1}},
		"unequal":                 {[]int{300, 100, 100, 100}, 500, []int{2, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			var boxes []*box
			for _, w := range c.widths {
				boxes = append(boxes, &box{w: w, h: 90})
			}
			var got []int
			for _, row := range pack(boxes, 10, 20, c.most) {
				got = append(got, len(row))
			}
			require.Equal(t, c.want, got)
		})
	}
}
