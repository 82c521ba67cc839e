// SPDX-License-Identifier: Apache-2.0

package draw_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement/draw"
)

var update = flag.Bool("update", false, "write testdata anew")

// Look at a file of testdata in a browser, once by day and once by night, before you keep it.
func TestDrawingsAreAsBefore(t *testing.T) {
	for name, job := range jobs(t) {
		t.Run(name, func(t *testing.T) {
			svg, err := draw.SVG(job.topology, &job.demand, &job.plan, job.options)
			require.NoError(t, err)
			file := filepath.Join("testdata", name+".svg")
			if *update {
				require.NoError(t, os.WriteFile(file, svg, 0o644))
			}
			want, err := os.ReadFile(file)
			require.NoError(t, err)
			// By line, as a difference of two whole files is hard to read.
			wanted, got := strings.Split(string(want), "\n"), strings.Split(string(svg), "\n")
			for i := range min(len(wanted), len(got)) {
				require.Equal(t, wanted[i], got[i], "line %d of %s; go test ./plugins/placement/draw -update writes it anew", i+1, file)
			}
			require.Len(t, got, len(wanted))
		})
	}
}
