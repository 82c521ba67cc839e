// SPDX-License-Identifier: Apache-2.0

package placement

// lot is all that one role has to place: kinds with equal pods.
type lot struct {
	role  int
	kinds []int
	want  int32
	shape *fitShape
}

// lots of a problem, in the order of roles.
func (p *problem) lots() []lot {
	var lots []lot
	for k := range p.kinds {
		i := 0
		for i < len(lots) && lots[i].role != p.kinds[k].role {
			i++
		}
		if i == len(lots) {
			lots = append(lots, lot{role: p.kinds[k].role, shape: p.kinds[k].shape})
		}
		lots[i].kinds = append(lots[i].kinds, k)
		lots[i].want += p.kinds[k].count
	}
	return lots
}

// request of a lot's pods.
func (p *problem) request(l *lot) []int64 { return p.kinds[l.kinds[0]].request }

// share of everything wanted that a domain can hold, as far as sums tell: 1 and more if all. It never errs on the low side.
func (p *problem) share(d DomainID, lots []lot) float64 {
	share := float64(maxFit)
	some := 0
	for i := range lots {
		if lots[i].want > 0 {
			share = min(share, float64(lots[i].shape.sumOf(d))/float64(lots[i].want))
			some++
		}
	}
	if some < 2 || share == 0 {
		return share
	}
	for r, free := range p.t.Free(d) {
		var used int64
		for i := range lots {
			used += int64(lots[i].want) * p.request(&lots[i])[r]
		}
		if used > 0 {
			share = min(share, float64(max(0, free))/float64(used))
		}
	}
	return share
}

// lonely is what workers cost that have no server in their domain, where they must have one: more than any traffic.
func (p *problem) lonely(tier int, row []int32) int64 {
	if tier != p.coloc || row[serverClass] > 0 {
		return 0
	}
	var sum int64
	for class, n := range row {
		if class > serverClass {
			sum += int64(n)
		}
	}
	return sum << 40
}

// chaperoned says whether every worker on the board has a server where it must have one.
func (b *board) chaperoned() bool {
	if b.p.coloc == 0 {
		return true
	}
	for c := range b.cells {
		if b.cells[c].tier != NodeTier {
			continue
		}
		above := b.p.t.Ancestor(NodeID(b.cells[c].domain), b.p.coloc)
		if b.row(int(b.number[above]) - 1)[serverClass] > 0 {
			continue
		}
		for k, n := range b.count(c) {
			if n > 0 && b.p.kinds[k].class > serverClass {
				return false
			}
		}
	}
	return true
}
