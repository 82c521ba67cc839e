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

// lonely is how many workers to place are in a domain that must have a server and has none.
func (p *problem) lonely(d DomainID, tier int, row []int32) int64 {
	if tier != p.coloc || row[serverClass] > 0 {
		return 0
	}
	sum := -p.working[d]
	for class, n := range row {
		if class > serverClass {
			sum += int64(n)
		}
	}
	return sum
}
