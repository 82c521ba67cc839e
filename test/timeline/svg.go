// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strings"
	"time"
)

// colours are blue for what the controllers do, violet for the scheduler, green for the kubelet, and warm where pods wait.
var colours = map[Phase]string{
	Admission: "#1f4e79", Enqueue: "#2f75b5", Pods: "#8ab8e0", Plan: "#5b3a8c", Bind: "#a78bd0", Image: "#2e7d4f",
	Environment: "#c49a00", Backoff: "#d9534f", Container: "#7cc08f", Names: "#f0ad4e", Main: "#4fb0ae", Program: "#6b7280", Serving: "#d5d8dc",
}

// The drawing's measures, in pixels.
const (
	width     = 1040
	left      = 210 // where time begins
	right     = 20
	top       = 64 // where the first row begins
	rowHeight = 26
	barHeight = 18
	keyHeight = 20
)

// mostTicks is how many times of the axis are written at most.
const mostTicks = 10

// SVG draws the rows on one axis of time, with a key to the colours that says how long the gang took for each. It needs
// nothing beside itself, and equal stamps give equal bytes.
func (s *Stamps) SVG() []byte {
	rows := s.Rows()
	var end time.Duration // of the last pod's first step, if it takes that long
	for _, row := range rows {
		for _, span := range row.Spans {
			end = max(end, span.To)
		}
	}
	d := &drawing{scale: float64(width-left-right) / max(end.Seconds(), 1e-3), bottom: top + rowHeight*len(rows)}
	path := s.Path()
	var last []string
	if cost, guarded := s.Barrier(); guarded {
		last = cost.Sentences()
	}
	height := d.bottom + 40 + keyHeight*(len(path)+1+len(last))
	d.add(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`, width, height, width, height)
	d.add(`<rect class="paper" width="%d" height="%d" fill="#ffffff"/>`, width, height)
	what, took := whole(path)
	d.text(16, 26, `font-size="16" font-weight="bold"`, "%s: %s, %s", s.Job, what, seconds(took))
	d.axis(end)
	for i, row := range rows {
		d.row(top+i*rowHeight, row)
	}
	at := d.bottom + 40
	for _, span := range path {
		note := ""
		if span.Note != "" {
			note = " (" + span.Note + ")"
		}
		d.key(at, span.Phase, ": "+seconds(span.Took())+note)
		at += keyHeight
	}
	d.key(at, Serving, ", or waits for others")
	for i, sentence := range last {
		d.text(left, at+(i+1)*keyHeight, "", "%s", sentence)
	}
	d.add(`</svg>`)
	return d.out.Bytes()
}

// drawing is one that is being made.
type drawing struct {
	out    bytes.Buffer
	scale  float64 // pixels a second
	bottom int
}

func (d *drawing) add(format string, args ...any) { fmt.Fprintf(&d.out, format+"\n", args...) }

func (d *drawing) text(x, y int, attributes, format string, args ...any) {
	if attributes != "" {
		attributes = " " + attributes
	}
	d.add(`<text x="%d" y="%d"%s>%s</text>`, x, y, attributes, escaped(fmt.Sprintf(format, args...)))
}

func (d *drawing) x(at time.Duration) float64 { return left + at.Seconds()*d.scale }

func (d *drawing) key(y int, phase Phase, words string) {
	d.add(`<rect class="key" x="%d" y="%d" width="14" height="14" fill="%s"/>`, left, y-11, colours[phase])
	d.text(left+22, y, "", "%s%s", phase, words)
}

// axis has a line for each of some round times.
func (d *drawing) axis(end time.Duration) {
	step := tick(end)
	for at := time.Duration(0); at <= end; at += step {
		d.add(`<line x1="%.1f" y1="%d" x2="%.1f" y2="%d" stroke="#dddddd"/>`, d.x(at), top-8, d.x(at), d.bottom)
		d.add(`<text x="%.1f" y="%d" text-anchor="middle" fill="#555555">%g s</text>`, d.x(at), top-14, at.Seconds())
	}
}

// tick is the time between two lines of the axis.
func tick(end time.Duration) time.Duration {
	for step := 100 * time.Millisecond; ; step *= 10 {
		for _, round := range []time.Duration{step, 2 * step, 5 * step} {
			if end/round < mostTicks {
				return round
			}
		}
	}
}

func (d *drawing) row(y int, row Row) {
	weight := ""
	if y == top {
		weight = ` font-weight="bold"`
	}
	d.add(`<text x="%d" y="%d" text-anchor="end"%s>%s</text>`, left-8, y+13, weight, escaped(row.Name))
	for _, span := range row.Spans {
		if span.Took() <= 0 {
			continue
		}
		said := fmt.Sprintf("%s: %s, from %s to %s", span.Phase, seconds(span.Took()), seconds(span.From), seconds(span.To))
		d.add(`<rect class="bar" x="%.2f" y="%d" width="%.2f" height="%d" fill="%s"><title>%s</title></rect>`,
			d.x(span.From), y, span.Took().Seconds()*d.scale, barHeight, colours[span.Phase], escaped(said))
	}
}

func escaped(text string) string {
	var b strings.Builder
	if err := xml.EscapeText(&b, []byte(text)); err != nil {
		return "" // a builder takes everything
	}
	return b.String()
}
