// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"fmt"
	"math/rand"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// asBuilt is what a topology with these nodes must look like: everything built again.
func asBuilt(test *testing.T, t *Topology, spec Spec) {
	test.Helper()
	fresh, err := New(spec)
	require.NoError(test, err)
	require.Equal(test, fresh.free, t.free, "sums")
	require.Equal(test, fresh.gpus, t.gpus, "islands")
	for _, s := range t.index.shapes {
		want := NewShape(fresh, s.request, nil)
		require.Equal(test, want.fit, s.fit, "fits of %v", s.request)
		require.Equal(test, want.sum, s.sum, "sums of fits of %v", s.request)
		require.Equal(test, want.nodes, s.nodes, "histograms of %v", s.request)
	}
}

// history is a topology with what it was built of, kept up by hand.
type history struct {
	t      *Topology
	spec   Spec
	claims []Claim
	marks  []int
	// saved nodes and claims, when each mark was set
	saved       [][]NodeSpec
	savedClaims [][]Claim
}

func newHistory(test *testing.T, random *rand.Rand) *history {
	h := &history{spec: Spec{
		Resources: []string{"cpu", "gpu", "npu"}, Accelerators: []string{"gpu", "npu"}, Tiers: DefaultTiers("rack", "block"),
	}}
	for i := range 2 + random.Intn(9) {
		node := NodeSpec{Name: fmt.Sprintf("n%02d", i), Domains: []string{fmt.Sprint("r", i/2), fmt.Sprint("b", i/5)}, Free: make([]int64, 3)}
		if random.Intn(2) == 0 {
			node.Islands = make([]Island, 2+random.Intn(3))
		}
		h.spec.Nodes = append(h.spec.Nodes, node)
		h.redraw(random, i)
	}
	t, err := New(h.spec)
	require.NoError(test, err)
	h.t = t
	return h
}

// redraw draws what is free on a node, in new slices.
func (h *history) redraw(random *rand.Rand, i int) {
	node := &h.spec.Nodes[i]
	islands := make([]Island, len(node.Islands))
	free := []int64{int64(random.Intn(60) - 5), 0, int64(random.Intn(4))}
	if len(islands) == 0 {
		free[1] = int64(random.Intn(12) - 2)
		node.Free, node.Islands = free, nil
		return
	}
	for j := range islands {
		islands[j].Size = 4 + random.Intn(3)
		islands[j].Free = random.Intn(islands[j].Size + 1)
		free[1] += int64(islands[j].Free)
	}
	free[2] = min(free[2], free[1])
	free[1] -= free[2]
	node.Free, node.Islands = free, islands
}

// add gives a claim back to the nodes as they are written down (sign 1), or takes it.
func (h *history) add(claim *Claim, sign int) {
	node := &h.spec.Nodes[claim.Node]
	node.Free = append([]int64(nil), node.Free...)
	node.Islands = append([]Island(nil), node.Islands...)
	for r, amount := range claim.Amounts {
		node.Free[r] += int64(sign) * amount
	}
	for _, i := range claim.Islands {
		node.Islands[i].Free += sign
	}
}

func (h *history) change(test *testing.T, random *rand.Rand) {
	node := NodeID(random.Intn(len(h.spec.Nodes)))
	switch random.Intn(8) {
	case 0, 1, 2:
		claim, err := h.t.Take(node, []int64{int64(random.Intn(9)), int64(random.Intn(4)), int64(random.Intn(2))})
		if err == nil {
			h.add(&claim, -1)
			h.claims = append(h.claims, claim)
		}
	case 3:
		if len(h.claims) > 0 {
			i := random.Intn(len(h.claims))
			h.add(&h.claims[i], 1)
			given := &h.spec.Nodes[h.claims[i].Node]
			require.NoError(test, h.t.SetFree(h.claims[i].Node, given.Free, given.Islands))
			h.claims = append(append([]Claim(nil), h.claims[:i]...), h.claims[i+1:]...)
		}
	case 4:
		// A node whose pods are known is not set again: they could not be given back.
		for _, claim := range h.claims {
			if claim.Node == node {
				return
			}
		}
		h.redraw(random, int(node))
		require.NoError(test, h.t.SetFree(node, h.spec.Nodes[node].Free, h.spec.Nodes[node].Islands))
	case 5:
		h.marks = append(h.marks, h.t.Begin())
		h.saved = append(h.saved, append([]NodeSpec(nil), h.spec.Nodes...))
		h.savedClaims = append(h.savedClaims, append([]Claim(nil), h.claims...))
	case 6, 7:
		last := len(h.marks) - 1
		if last < 0 {
			return
		}
		h.t.Rollback(h.marks[last])
		h.spec.Nodes, h.claims = h.saved[last], h.savedClaims[last]
		h.marks, h.saved, h.savedClaims = h.marks[:last], h.saved[:last], h.savedClaims[:last]
	}
}

func TestChangesAgainstARebuiltTopology(test *testing.T) {
	for seed := range int64(20) {
		random := rand.New(rand.NewSource(seed))
		h := newHistory(test, random)
		for step := range 120 {
			h.t.Shape([]int64{int64(random.Intn(12)), int64(random.Intn(5)), 0}) // more shapes than are kept
			h.change(test, random)
			if step%10 == 0 {
				asBuilt(test, h.t, h.spec)
			}
		}
		asBuilt(test, h.t, h.spec)
		require.Len(test, h.t.index.shapes, maxShapes, "seed %d", seed)
		for _, mark := range slices.Backward(h.marks) {
			h.t.Rollback(mark)
		}
		require.Empty(test, h.t.journal)
		require.Zero(test, h.t.open)
	}
}
