// SPDX-License-Identifier: Apache-2.0

package peers

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/test/live"
)

// Each scheduler places all gangs, and binds no pod of a gang that does not fit if it knows topology. The first start builds all of them,
// Kubernetes 1.37 too, for half an hour.
func TestRun(t *testing.T) {
	live.SkipUnlessAll(t)
	for _, kubernetes := range []string{kubernetes134, kubernetes137} {
		s := Default()
		s.Kubernetes, s.Nodes, s.Cases, s.Rounds, s.Settle, s.Folder = kubernetes, 40, []string{"4x5"}, 1, 10*time.Second, t.TempDir()
		require.NoError(t, Run(t.Context(), s, testWriter{t}))
		require.NoDirExists(t, filepath.Join(s.Folder, "peers-state"))
		text, err := os.ReadFile(filepath.Join(s.Folder, s.File()))
		require.NoError(t, err)
		var r Report
		require.NoError(t, json.Unmarshal(text, &r))
		require.Len(t, r.Peers, len(schedulers(kubernetes)))
		require.Len(t, r.Turns, 2*len(r.Peers))
		for i := range r.Peers {
			p := &r.Peers[i]
			knows := p.Scheduler != stock && p.Scheduler != tuned
			require.NotEmpty(t, p.Version, p.Scheduler)
			require.Positive(t, p.EndToEnd, p.Scheduler)
			require.Positive(t, p.Alone, p.Scheduler)
			require.Positive(t, p.CPU, p.Scheduler)
			require.Positive(t, p.RSS, p.Scheduler)
			require.GreaterOrEqual(t, p.Writes, 1.0, p.Scheduler)
			require.Zero(t, p.Unbound, p.Scheduler)
			require.Equal(t, knows, p.Unfit == 0, p.Scheduler)
			if knows {
				require.InDelta(t, 4, p.OneRack, 1e-9, p.Scheduler)
			}
		}
	}
}

// testWriter logs progress.
type testWriter struct{ *testing.T }

func (w testWriter) Write(text []byte) (int, error) {
	w.Log(strings.TrimSpace(string(text)))
	return len(text), nil
}
