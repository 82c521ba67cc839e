// SPDX-License-Identifier: Apache-2.0

package draw_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/draw"
)

func drawn(t *testing.T, j job) []byte {
	svg, err := draw.SVG(j.topology, &j.demand, &j.plan, j.options)
	require.NoError(t, err)
	return svg
}

// seen is what a reader of the XML finds: each text, and each tooltip.
type seen struct{ texts, titles, elements []string }

func read(t *testing.T, svg []byte) (s seen) {
	decoder := xml.NewDecoder(bytes.NewReader(svg))
	var open []string
	var texts []*strings.Builder
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return s
		}
		require.NoError(t, err, "the drawing is well-formed XML")
		switch token := token.(type) {
		case xml.StartElement:
			open, texts = append(open, token.Name.Local), append(texts, &strings.Builder{})
			s.elements = append(s.elements, token.Name.Local)
		case xml.CharData:
			for i := range open {
				if open[i] != "text" || open[len(open)-1] != "title" {
					texts[i].Write(token)
				}
			}
		case xml.EndElement:
			last := len(open) - 1
			switch text := texts[last].String(); open[last] {
			case "text":
				s.texts = append(s.texts, text)
			case "title":
				s.titles = append(s.titles, text)
			}
			open, texts = open[:last], texts[:last]
		}
	}
}

func TestDrawingsAreTheSameEachTime(t *testing.T) {
	for name, job := range jobs(t) {
		again := jobs(t)[name]
		for range 5 {
			require.Equal(t, string(drawn(t, job)), string(drawn(t, again)), name)
		}
	}
}

// Every pod is there once, those that run already too; nothing else looks like one.
func TestEveryPodIsDrawnOnce(t *testing.T) {
	for name, job := range jobs(t) {
		t.Run(name, func(t *testing.T) {
			var want []string
			tell := func(role, index int, node placement.NodeID, suffix string) {
				text := fmt.Sprintf("%s %d on %s", job.demand.Roles[role].Name, index, job.topology.NodeName(node))
				if gpus := job.topology.GPUs(job.demand.Roles[role].Request); gpus > 1 {
					text += fmt.Sprintf(": %d GPUs", gpus)
				} else if gpus == 1 {
					text += ": 1 GPU"
				}
				want = append(want, readable(text+suffix))
			}
			for r, role := range job.demand.Roles {
				for _, member := range role.Placed {
					tell(r, member.Index, member.Node, " (running already)")
				}
			}
			for _, a := range job.plan.Assignments {
				tell(a.Role, a.Index, a.Node, "")
			}
			var got []string
			for _, title := range read(t, drawn(t, job)).titles {
				if strings.Contains(title, " on ") {
					got = append(got, title)
				}
			}
			require.ElementsMatch(t, want, got)
		})
	}
}

// readable is a text as XML can say it.
func readable(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\ufffd"), "\x00", "\ufffd")
}

func TestHostileNamesStayText(t *testing.T) {
	svg := read(t, drawn(t, names(t)))
	require.NotContains(t, svg.elements, "script")
	require.Contains(t, svg.texts, readable("</svg><script>&\"'\x00\xff]]>"))
	require.Contains(t, svg.texts, `<rack & "co"> --><g>`)
	require.Contains(t, svg.titles, "a-very-long-name-of-a-node-that-nobody-can-read.example.com", "a short name has the whole one as its tooltip")
}

func TestWhatTheJobDoesNotTouchIsOneLine(t *testing.T) {
	for _, c := range []struct {
		job  job
		want []string
	}{
		{ring(t), []string{"+ 1 node not used: 8 GPUs free", "+ 1 rack not used: 1 node, 8 GPUs free", "+ 1 block not used: 2 nodes, 16 GPUs free"}},
		{servers(t), []string{"+ 1 node not used"}},
	} {
		texts := read(t, drawn(t, c.job)).texts
		for _, want := range c.want {
			require.Contains(t, texts, want)
		}
		require.NotContains(t, texts, "n7")
	}
}

func TestUplinksSayTheirLoad(t *testing.T) {
	// Two runs of ranks leave no domain; each edge of the ring carries 2 x 15/16 x 14 GB.
	titles := read(t, drawn(t, ring(t))).titles
	require.Contains(t, titles, "uplink of node b1/r1/n1: 26.2 GB each way per step, 525 ms")
	require.Contains(t, titles, "uplink of rack b1/r1: 26.2 GB each way per step, 262 ms")
	require.Contains(t, titles, "uplink of block b1: carries nothing")

	// 2 servers, 6 workers: n1 has 1 and 2 of them, and carries (1 x 4 + 2 x 1) M/2. No bandwidth is known.
	titles = read(t, drawn(t, servers(t))).titles
	require.Contains(t, titles, "uplink of node r1/n1: 3 × M each way per step")
}

func TestWordsSayTheCost(t *testing.T) {
	texts := read(t, drawn(t, servers(t))).texts
	for _, want := range []string{"9 pods on 3 nodes", "No room for 1 of worker.", "racks", "2 of 2", "4 × M", "× 4", "M is the size of the model's parameters."} {
		require.Contains(t, texts, want)
	}
	require.Contains(t, read(t, drawn(t, ring(t))).texts, "The busiest uplink takes 525 ms: node b1/r1/n1.")
}

func TestNothingToDraw(t *testing.T) {
	j := ring(t)
	_, err := draw.SVG(j.topology, &j.demand, nil, j.options)
	require.EqualError(t, err, "draw a plan: there is none; where a job does not fit, there is nothing to draw")

	_, err = draw.SVG(j.topology, &j.demand, &placement.Plan{Assignments: j.plan.Assignments}, j.options)
	require.EqualError(t, err, "draw a plan: its cost has 0 tiers and the topology 4; set Plan.Cost with Evaluate")

	j.plan.Assignments[0].Node = 99
	_, err = draw.SVG(j.topology, &j.demand, &j.plan, j.options)
	require.EqualError(t, err, "draw a plan: load the uplinks: node 99 is not in the topology")
}
