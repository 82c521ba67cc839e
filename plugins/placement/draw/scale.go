// SPDX-License-Identifier: Apache-2.0

package draw

// Sizes in pixels that all drawings share.
const (
	margin     = 28
	paperWidth = 1240 // widest drawing, unless one box is wider
	textHeight = 18   // of a line of text
	bodySize   = 12   // of the font
	labelSize  = 9    // of what uplinks carry
	trunk      = 11   // from a box's left edge to the line that enters it
	inset      = 22   // from a box's left edge to what is in it
	frame      = 11   // from its other edges
	boxHeader  = 24   // height of a box's name
	between    = 10   // boxes
)

// scale is how large nodes are drawn.
type scale struct {
	cell, gap int // of GPUs
	pad       int // of a node, and of the outline of an island
	header    int // height of the node's name
	name      int // size of its font
	number    int // size of the font of a pod's index; 0 means none
	chip      int // height of a pod without GPUs
	stub      int // height of an uplink
	most      int // widest name
}

// manyNodes is where a drawing changes to small nodes without numbers, whose tooltips still have them.
const manyNodes = 160

func scaleOf(nodes int) scale {
	if nodes > manyNodes {
		return scale{cell: 8, gap: 2, pad: 5, header: 15, name: 8, number: 0, chip: 7, stub: 12, most: 56}
	}
	return scale{cell: 16, gap: 2, pad: 8, header: 22, name: 10, number: 8, chip: 14, stub: 20, most: 100}
}
