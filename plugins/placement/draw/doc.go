// SPDX-License-Identifier: Apache-2.0

// Package draw holds the picture of a plan: an SVG of the parts of the tree that one job touches, with its pods on them
// and what each uplink carries.
//
// The same plan always gives the same bytes. Nothing is planned or judged here, and no file is read or written.
//
// scene.go gathers what is to be seen and cells.go what is on a node; box.go, node.go and pack.go lay it out; paint.go
// and paint_node.go write the SVG; header.go, table.go and legend.go say it in words.
package draw
