// SPDX-License-Identifier: Apache-2.0

package solver

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement/gang"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/tree"
)

// everyPlan tries all ways to place the pods of a ring, and keeps the best value.
type everyPlan struct {
	s     *ringSearch
	at    []tree.NodeID
	first []tree.NodeID // plan that was found first
	best  value
}

func (e *everyPlan) from(position int) {
	s := e.s
	if position == len(s.pods) {
		v := s.value(e.at)
		if e.first == nil || v.less(e.best, s.p.byBusy) {
			e.best = v
		}
		if e.first == nil {
			e.first = append(e.first, e.at...)
		}
		return
	}
	if s.pods[position].node >= 0 {
		e.at[position] = s.pods[position].node
		e.from(position + 1)
		return
	}
	kind := &s.p.podClasses[s.pods[position].kind]
	for j := len(s.nodes) - 1; j >= 0; j-- { // the last node first, so that the plan to begin with is none of the best
		if kind.shape.Fit(s.nodes[j]) == 0 || !s.fits(j, kind) {
			continue
		}
		e.at[position] = s.nodes[j]
		for _, need := range kind.needs {
			s.free[j][need.resource] -= need.amount
		}
		e.from(position + 1)
		for _, need := range kind.needs {
			s.free[j][need.resource] += need.amount
		}
	}
}

func TestSearchRingFindsTheBest(test *testing.T) {
	searched, better := 0, 0
	for seed := range int64(1500) {
		t, d, _ := ringCase(seed)
		d.HighestTier, d.Colocation = 0, gang.Preferred
		o := Options{Objective: Objective(seed % 2)}
		b, _ := assignmentOf(t, d, o)
		p := b.p
		b.close()
		if p.members() == 0 || p.members() > 4 || t.Nodes() > 5 || p.unit == 0 {
			continue
		}
		var nodes []tree.NodeID
		for n := range tree.NodeID(t.Nodes()) {
			nodes = append(nodes, n)
		}
		s := &ringSearch{ringPods: newRingPods(p), nodes: nodes}
		s.take(nil, nil)
		all := &everyPlan{s: s, at: make([]tree.NodeID, len(s.pods))}
		all.from(0)
		if all.first == nil {
			continue
		}
		searched++
		var begin []gang.Assignment
		for i, pod := range s.pods {
			if pod.node < 0 {
				begin = append(begin, gang.Assignment{Role: pod.role, Index: pod.index, Node: all.first[i]})
			}
		}
		plan, whole := p.searchRing(nodes, begin, 1<<20)
		require.True(test, whole, "seed %d", seed)
		pods := newRingPods(p)
		is := pods.value(pods.read(plan))
		require.Equal(test, all.best, is, "seed %d", seed)
		if is.less(pods.value(pods.read(begin)), p.byBusy) {
			better++
		}
	}
	require.Greater(test, searched, 100)
	require.Greater(test, better, 50)
}
