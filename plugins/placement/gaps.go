// SPDX-License-Identifier: Apache-2.0

package placement

// addRing finds the gaps of a Collective: a class for each, and a kind for each role in it.
func (p *problem) addRing(take []int) {
	c := &collective{t: p.t, group: 1, size: p.d.GroupSize, weight: GroupWeight, base: map[DomainID]int64{}}
	p.traffic, p.ring = c, c
	pods := 0
	for r := range p.d.Roles {
		pods += len(p.d.Roles[r].Placed) + take[r]
	}
	ring := make([]seat, 0, pods)
	ranks, most := 0, 0
	for r := range p.d.Roles {
		role := &p.d.Roles[r]
		pending := role.Pending[:take[r]]
		if role.Traffic != Worker {
			for _, member := range role.Placed {
				p.fixed = append(p.fixed, fixedMember{member.Node, -1})
			}
			if take[r] > 0 {
				p.kinds = append(p.kinds, kind{role: r, class: -1, indexes: pending})
			}
			continue
		}
		members, gpus := len(role.Placed)+take[r], int(p.t.gpusOf(role.Request))
		ranks += members * max(1, gpus)
		if members > most {
			most, p.gpus = members, gpus
		}
		i := 0
		for _, member := range role.Placed {
			for ; i < len(pending) && pending[i] < member.Index; i++ {
				ring = append(ring, seat{role: r, index: pending[i], node: -1})
			}
			ring = append(ring, seat{role: r, index: member.Index, node: member.Node, fixed: true})
		}
		for ; i < len(pending); i++ {
			ring = append(ring, seat{role: r, index: pending[i], node: -1})
		}
	}
	c.bytes = endBytes(ranks, p.d.parameterBytes())
	c.length = int64(len(ring))
	c.group = groupInPods(p.d.GroupSize, max(1, p.gpus))
	p.cutIntoGaps(c, ring)
}

func (p *problem) cutIntoGaps(c *collective, ring []seat) {
	first := -1
	for i, s := range ring {
		if s.fixed {
			p.fixed = append(p.fixed, fixedMember{s.node, -1})
			if first < 0 {
				first = i
			}
		}
	}
	if first < 0 {
		if len(ring) > 0 {
			c.gaps = append(c.gaps, gap{length: int64(len(ring)), left: -1, right: -1})
			p.addGap(0, ring)
		}
		return
	}
	// Walk once around, from the first fixed member to itself.
	for i := 0; i < len(ring); {
		at := (first + i) % len(ring)
		length := 0
		for !ring[(at+1+length)%len(ring)].fixed {
			length++
		}
		left, right := ring[at].node, ring[(at+1+length)%len(ring)].node
		if length == 0 {
			for u, v := DomainID(left), DomainID(right); u != v; u, v = p.t.parent[u], p.t.parent[v] {
				c.base[u]++
				c.base[v]++
			}
		} else {
			c.gaps = append(c.gaps, gap{length: int64(length), start: int64(at + 1), left: left, right: right})
			members := make([]seat, length)
			for j := range members {
				members[j] = ring[(at+1+j)%len(ring)]
			}
			p.addGap(len(c.gaps)-1, members)
		}
		i += length + 1
	}
}

func (p *problem) addGap(class int, members []seat) {
	for i, s := range members {
		if i == 0 || s.role != members[i-1].role {
			p.kinds = append(p.kinds, kind{role: s.role, class: class, indexes: make([]int, 0, len(members)-i)})
		}
		k := &p.kinds[len(p.kinds)-1]
		k.indexes = append(k.indexes, s.index)
	}
}

// groupInPods is how many pods of so many GPUs share no parallel group with others: 1 if each group is inside one pod.
func groupInPods(size, gpus int) int64 {
	if size <= 1 || gpus%size == 0 {
		return 1
	}
	pods := 1
	for pods*gpus%size != 0 {
		pods++
	}
	return int64(pods)
}
