// SPDX-License-Identifier: Apache-2.0

package flows

import "math"

// filler shares links among flows, max-min fairly. Its slices are kept from one call to the next.
type filler struct {
	widths, free, users []float64
	full                []bool
	used                []int32 // links with flows
	growing             []*transfer
}

// slack within which two shares count as one, relative to them.
const slack = 1e-9

func newFiller(widths []float64) *filler {
	n := len(widths)
	return &filler{widths: widths, free: make([]float64, n), users: make([]float64, n), full: make([]bool, n)}
}

// rates sets what each of the flows gets, in bytes per second: progressive filling (Bertsekas and Gallager, Data Networks, 6.5.2).
// All rates grow alike; those on a link that is full stop growing.
func (f *filler) rates(active []*transfer) {
	f.used = f.used[:0]
	for _, a := range active {
		for _, link := range a.links {
			if f.users[link] == 0 {
				f.free[link] = f.widths[link]
				f.used = append(f.used, link)
			}
			f.users[link] += a.count
		}
	}
	f.growing = append(f.growing[:0], active...)
	for len(f.growing) > 0 {
		share := math.Inf(1)
		for _, link := range f.used {
			if f.users[link] > 0 {
				share = min(share, f.free[link]/f.users[link])
			}
		}
		for _, link := range f.used {
			f.full[link] = f.free[link] <= share*(1+slack)*f.users[link]
		}
		still := f.growing[:0]
		for _, a := range f.growing {
			if !f.onFull(a) {
				still = append(still, a)
				continue
			}
			a.rate = share
			for _, link := range a.links {
				f.free[link] = max(0, f.free[link]-share*a.count)
				f.users[link] -= a.count // counts are whole numbers: the last one leaves 0
			}
		}
		f.growing = still
	}
}

// onFull reports whether one of the flow's links is full.
func (f *filler) onFull(a *transfer) bool {
	for _, link := range a.links {
		if f.full[link] {
			return true
		}
	}
	return false
}

// Rates returns what one flow of each entry gets if all send at once, in bytes per second.
func Rates(widths []float64, all []Flow) []float64 {
	active := make([]*transfer, len(all))
	for i := range all {
		active[i] = &transfer{links: all[i].Links, count: all[i].Count}
	}
	newFiller(widths).rates(active)
	rates := make([]float64, len(all))
	for i, a := range active {
		rates[i] = a.rate
	}
	return rates
}
