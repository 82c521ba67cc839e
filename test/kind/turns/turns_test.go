// SPDX-License-Identifier: Apache-2.0

package turns_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/test/bench/audit"
	bench "github.com/paddle-volcano/paddle-volcano/test/bench/live"
	"github.com/paddle-volcano/paddle-volcano/test/bench/live/load"
	"github.com/paddle-volcano/paddle-volcano/test/kind/turns"
	"github.com/paddle-volcano/paddle-volcano/test/live"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

// processes are schedulers of a sandbox.
type processes struct {
	*sandbox.Sandbox
	runs string
}

func (p *processes) Start(_ context.Context, name string) error {
	p.runs = map[string]string{bench.Paddle: sandbox.Scheduler, bench.Stock: sandbox.VolcanoScheduler}[name]
	return p.StartComponent(p.runs)
}

func (p *processes) Stop(context.Context) error {
	if p.runs == "" {
		return nil
	}
	name := p.runs
	p.runs = ""
	return p.Kill(name, syscall.SIGTERM)
}

// Where there is no cluster of kind's the same turns are taken on a sandbox, timed by the audit log that kind's API server would write.
func TestTurns(t *testing.T) {
	policy, err := os.ReadFile("../../../hack/kind/audit-policy.yaml")
	require.NoError(t, err)
	folder, err := filepath.Abs("../../../_output/test-kind-turns-audit") // stays for reading
	require.NoError(t, err)
	args, log, err := audit.Prepare(folder, string(policy))
	require.NoError(t, err)
	made, err := sandbox.Start(t.Context(), sandbox.Options{
		StateDir: "../../../_output/test-kind-turns", Topology: load.Cluster(16), Rivals: true, Progress: os.Stderr,
		Args: map[string][]string{sandbox.APIServer: args},
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, made.Stop()) })
	plane, err := live.ConnectTo(made.RESTConfig())
	require.NoError(t, err)

	s := bench.Default()
	s.Nodes, s.Gangs, s.Scale, s.Rounds, s.Schedulers = []int{16}, []string{"4x8"}, 1, 1, turns.Available()
	s.Forms = []string{load.PodGroups, load.PaddleJobs}
	s.Folder, s.Patience = filepath.Join(t.TempDir(), "kind"), 2*time.Minute
	cluster := turns.Cluster{Plane: plane, Schedulers: &processes{made, sandbox.Scheduler}, Log: log}
	var out bytes.Buffer
	require.NoError(t, turns.Run(t.Context(), cluster, s, &out, os.Stderr))
	require.Contains(t, out.String(), "16 nodes, 4x8 as podgroup")

	var report bench.Report
	text, err := os.ReadFile(filepath.Join(s.Folder, "live.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &report))
	require.Len(t, report.Cases, len(s.Forms))
	for _, c := range report.Cases {
		require.Len(t, c.Turns, 2, c)
		require.Equal(t, 32, c.Pods, c)
		for _, turn := range c.Turns {
			require.Positive(t, turn.Bound, "%s by %s", c, turn.Scheduler)
			require.Positive(t, turn.GangWait.P99, "%s by %s", c, turn.Scheduler)
			if c.Form != load.PodGroups {
				require.Positive(t, turn.Running, "%s by %s", c, turn.Scheduler)
			}
		}
	}

	s.Schedulers = []string{bench.KubeScheduler}
	require.ErrorContains(t, turns.Run(t.Context(), cluster, s, &out, os.Stderr), `"kube-scheduler" takes no turns`)
}
