// SPDX-License-Identifier: Apache-2.0

package placement

// spreads are sets of a scope's largest nodes, 2, 4, 8 and so on: where the busiest uplink goes first, more nodes may be
// better than fewer (over k equal nodes the busiest carries 2MW(k-1)/k^2 bytes).
func (p *problem) spreads(s scope) (sets [][]NodeID) {
	lots := p.lots()
	most := min(p.members(), maxTargets)
	nodes := p.largest(p.leaves(s, lots), lots, most)
	for n := 2; n < 2*len(nodes); n *= 2 {
		sets = append(sets, nodes[:min(n, len(nodes))])
	}
	return sets
}

// spread deals members out to nodes one at a time, round and round.
func (b *board) spread(nodes []NodeID, lots []lot) {
	for i := range lots {
		for placed := true; placed && lots[i].want > 0; {
			placed = false
			for _, n := range nodes {
				before := lots[i].want
				b.put(n, &lots[i], min(1, before))
				placed = placed || lots[i].want < before
			}
		}
	}
}
