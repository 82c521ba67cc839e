// SPDX-License-Identifier: Apache-2.0

package draw

// extent is a width and a height.
type extent struct{ w, h int }

// paper is the size of the smallest sheet, three wide and two high, that is large enough.
func (e extent) paper() int { return max(2*e.w, 3*e.h) }

// pack puts boxes side by side into rows, in their order: the rows that need the smallest sheet of paper and are no wider
// than they may be; of those, the fewest rows.
func pack(boxes []*box, gap, rowGap, most int) (rows [][]*box) {
	best := -1
	limit := -gap
	for _, b := range boxes {
		limit += gap + b.w
		if best >= 0 && limit > most {
			break
		}
		candidate := wrap(boxes, gap, limit)
		if size := sizeOf(candidate, gap, rowGap).paper(); best < 0 || size <= best {
			best, rows = size, candidate
		}
	}
	return rows
}

// wrap begins a new row where a box would pass the limit.
func wrap(boxes []*box, gap, limit int) (rows [][]*box) {
	width := 0
	for i, b := range boxes {
		if i == 0 || width+gap+b.w > limit {
			rows = append(rows, nil)
			width = -gap
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], b)
		width += gap + b.w
	}
	return rows
}

// sizeOf rows with a gap between boxes and one above each row.
func sizeOf(rows [][]*box, gap, rowGap int) (size extent) {
	for _, row := range rows {
		width, height := -gap, 0
		for _, b := range row {
			width += gap + b.w
			height = max(height, b.h)
		}
		size.w = max(size.w, width)
		size.h += rowGap + height
	}
	return size
}
