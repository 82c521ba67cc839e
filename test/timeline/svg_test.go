// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"encoding/xml"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// svg is what the tests read of a drawing.
type svg struct {
	Width  float64 `xml:"width,attr"`
	Height float64 `xml:"height,attr"`
	Rects  []struct {
		Class string  `xml:"class,attr"`
		X     float64 `xml:"x,attr"`
		Y     float64 `xml:"y,attr"`
		Width float64 `xml:"width,attr"`
		Fill  string  `xml:"fill,attr"`
		Title string  `xml:"title"`
	} `xml:"rect"`
	Texts []struct {
		Y    float64 `xml:"y,attr"`
		Text string  `xml:",chardata"`
	} `xml:"text"`
}

func drawn(t *testing.T, s *Stamps) (read svg) {
	t.Helper()
	text := s.SVG()
	require.Equal(t, text, s.SVG(), "the same each time")
	require.NoError(t, xml.Unmarshal(text, &read))
	return read
}

func TestSVG(t *testing.T) {
	for name, s := range map[string]Stamps{"by IPs": byIPs(), "by names": byNames(), "nothing": {Job: "j"}} {
		t.Run(name, func(t *testing.T) {
			read := drawn(t, &s)
			var said []string
			for _, text := range read.Texts {
				require.Less(t, text.Y, read.Height)
				said = append(said, text.Text)
			}
			ends := map[float64]float64{} // of the bars of each row
			bars := 0
			for _, rect := range read.Rects {
				require.NotEmpty(t, rect.Fill)
				require.LessOrEqual(t, rect.X+rect.Width, read.Width)
				if rect.Class != "bar" {
					continue
				}
				bars++
				if end, before := ends[rect.Y]; before {
					require.InDelta(t, end, rect.X, 0.02, "bars follow each other: %s", rect.Title)
				}
				ends[rect.Y] = rect.X + rect.Width
				require.NotEmpty(t, rect.Title)
			}
			want := 0
			for _, row := range s.Rows() {
				require.Contains(t, said, row.Name)
				for _, span := range row.Spans {
					if span.Took() > 0 {
						want++
					}
				}
			}
			require.Equal(t, want, bars)
			if cost, guarded := s.Barrier(); guarded {
				require.Subset(t, said, cost.Sentences())
			}
		})
	}
}

func TestSVGShowsTheBackoffAndEscapes(t *testing.T) {
	s := byIPs()
	read := drawn(t, &s)
	require.Equal(t, "wide & deep: from creation to the first training step, 17.20 s", read.Texts[0].Text)
	var titles []string
	for _, rect := range read.Rects {
		titles = append(titles, rect.Title)
	}
	require.Contains(t, titles, "environment, kubelet's back-off: 13.30 s, from 2.70 s to 16.00 s")
	require.NotContains(t, string(s.SVG()), "href", "it needs nothing beside itself")
}

func TestEachPhaseHasAColourOfItsOwn(t *testing.T) {
	var used []string
	for _, phase := range Phases() {
		require.NotEmpty(t, colours[phase], phase)
		used = append(used, colours[phase])
	}
	slices.Sort(used)
	require.Len(t, slices.Compact(used), len(colours))
}

func TestTick(t *testing.T) {
	for end, want := range map[time.Duration]time.Duration{
		0: 100 * time.Millisecond, 900 * time.Millisecond: 100 * time.Millisecond, 1100 * time.Millisecond: 200 * time.Millisecond,
		4 * time.Second: 500 * time.Millisecond, 17 * time.Second: 2 * time.Second, 10 * time.Minute: 100 * time.Second,
	} {
		require.Equal(t, want, tick(end), end)
	}
}
