// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"encoding/xml"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/test/chart"
)

func TestTheDrawingSaysAllThatWasPlayed(t *testing.T) {
	s := Default()
	all := runs(&s, map[string]float64{stock: 36000, taskTopology: 18000, networkTopology: 10800, bytesFirst: 7200, busiestFirst: 5400})
	text := newReport(s, all).Draw()
	require.Equal(t, text, newReport(s, all).Draw())
	require.NoError(t, xml.Unmarshal([]byte(text), new(struct{})))
	require.NotRegexp(t, `(href|src|url\()`, text, "it needs nothing beside itself")
	require.Equal(t, 4*3, strings.Count(text, " %</text>"), "four charts of three loads")
	// Medians are those of seed 3, four times what they are told above: hours, and how many times ours.
	for _, want := range []string{">40.0<", ">20.0<", ">12.0<", ">8.00<", ">6.00<", ">5.00<", ">2.50<", ">1.50<"} {
		require.Contains(t, text, want)
	}
	require.Equal(t, 2*3*(5+4), strings.Count(text, `<rect class=`), "ratios to itself are not drawn")
	require.NotContains(t, newReport(s, all[:7]).Draw(), "load 85 %", "nothing is played there")
}

// Charts lie side by side, and the sheet is large enough for them.
func TestChartsDoNotOverlap(t *testing.T) {
	s := Default()
	text := newReport(s, runs(&s, map[string]float64{stock: 2})).Draw()
	boxes := regexp.MustCompile(`<svg x="(\d+)" y="(\d+)" width="(\d+)" height="(\d+)">`).FindAllStringSubmatch(text, -1)
	require.Len(t, boxes, 4)
	for _, box := range boxes {
		require.NotEqual(t, "0", box[4])
	}
	require.Equal(t, boxes[0][1], boxes[1][1])
	require.NotEqual(t, boxes[0][2], boxes[1][2])
	require.NotEqual(t, boxes[0][1], boxes[2][1])
	require.Contains(t, text, `viewBox="0 0 760 `, "two charts of 340, and margins of 20")
	require.Equal(t, 340, chart.Width)
}
