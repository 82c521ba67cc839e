// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"encoding/xml"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheDrawingSaysAllThatWasPlayed(t *testing.T) {
	s := Default()
	all := runs(&s, map[string]float64{stock: 30000, taskTopology: 20000, networkTopology: 12000, bytesFirst: 10000, busiestFirst: 8000})
	text := newReport(s, all).Draw()
	require.Equal(t, text, newReport(s, all).Draw())
	require.NoError(t, xml.Unmarshal([]byte(text), new(struct{})))
	for _, want := range []string{"load 70 %", "load 85 %", "load 95 %", "120,000 s (x3.00; 3.00 to 3.00)", "120,000 TB"} {
		require.Contains(t, text, want)
	}
	require.Equal(t, 2*3*5*5, strings.Count(text, "<circle"), "a dot for each run and measure")
	require.NotContains(t, text, "not played")

	part := newReport(s, all[:7]).Draw()
	require.Equal(t, 2*7, strings.Count(part, "<circle"))
	require.Equal(t, 2*10, strings.Count(part, "not played"), "nothing yet at two loads")
}

func TestThousands(t *testing.T) {
	for figure, want := range map[float64]string{0: "0", 999: "999", 1000: "1,000", 1234567.4: "1,234,567"} {
		require.Equal(t, want, thousands(figure))
	}
}
