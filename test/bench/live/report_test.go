// SPDX-License-Identifier: Apache-2.0

package live

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/test/bench/live/load"
	"github.com/paddle-volcano/paddle-volcano/test/bench/live/placed"
	"github.com/paddle-volcano/paddle-volcano/test/bench/live/profile"
	"github.com/paddle-volcano/paddle-volcano/test/bench/live/times"
	"github.com/paddle-volcano/paddle-volcano/test/bench/live/usage"
)

// measured is a case with three rounds of three.
func measured(nodes int, form string) Case {
	c := Case{Nodes: nodes, Pods: 4000, Gangs: 200, Gang: 20, Form: form, Profiles: map[string][]profile.Share{Paddle: {{Owner: "net/http", Seconds: 1, Percent: 100}}}}
	for who, rates := range map[string][]float64{Stock: {50, 40, 90}, Paddle: {310, 290, 300}, LimitB: {500, 400, 390}} {
		for round, bound := range rates {
			c.Turns = append(c.Turns, Turn{
				Scheduler: who, Round: round, Processes: map[string]usage.Process{"etcd": {CPU: float64(round), Peak: 100}, "idle": {}},
				Placement: placed.Quality{Nodes: 3, Racks: 1, Node: 24},
				Figures:   times.Figures{Bound: bound, GangWait: times.Wait{P50: 1, P99: float64(round)}},
			})
		}
	}
	c.sum()
	return c
}

func TestReport(t *testing.T) {
	t.Parallel()
	s := Default()
	s.Folder = t.TempDir()
	r := newReport(s)
	r.add(measured(5000, load.PodGroups))
	r.add(measured(1000, load.PodGroups))
	r.add(measured(5000, load.VolcanoJobs))
	r.addPrompt(Prompt{Scheduler: Stock, Sessions: times.Wait{P50: 9, P99: 9}})
	r.addPrompt(Prompt{Scheduler: Paddle, Nodes: 5000, Pending: 192, Waits: make([]float64, barWaits), Session: 1.5, Wait: times.Wait{P50: 1.5, P99: 3.3}, Sessions: times.Wait{P50: 1, P99: 2.2}})
	require.NoError(t, r.write())
	var out strings.Builder
	require.NoError(t, r.show(&out))
	for _, want := range []string{
		"5000 nodes, 200x20 as podgroup  stock      50.0     40.0..90.0    1.00      0.12",
		"5000 nodes, 200x20 as podgroup  paddle     300.0    290.0..310.0  6.00      0.75",
		"processor seconds (peak MiB): etcd 1.0 (100)\n",
		"5000 nodes, 200x20 as vcjob, stock: a gang is on 3.0 nodes in 1.0 racks; a step sends 24.0 sizes",
		"profile  1000 nodes, 200x20 as podgroup, paddle: net/http",
		"5000 nodes, 192 pods pending, paddle: a gang that fits is bound after 1.50 s (p99 3.30), that is 1.00 sessions (p99 2.20) of 1.50 s",
		"1 of 4 missed",
	} {
		require.Contains(t, out.String(), want)
	}
	text, err := os.ReadFile(filepath.Join(s.Folder, "live.json"))
	require.NoError(t, err)
	var file struct{ Cases []map[string]any }
	require.NoError(t, json.Unmarshal(text, &file))
	require.Len(t, file.Cases, 3)
	first := file.Cases[0]
	require.Equal(t, []any{5000.0, 4000.0, 20.0, load.PodGroups, 50.0, 300.0, nil, nil, 400.0, map[string]any{Stock: 1.0, Paddle: 1.0}}, []any{
		first["nodes"], first["pods"], first["gang"], first["form"], first["stock_pods_s"], first["paddle_pods_s"], first["kube_scheduler_pods_s"],
		first["limit_a_pods_s"], first["limit_b_pods_s"], first["gang_wait_p99_s"],
	})
}

func TestMissedBarsAreShown(t *testing.T) {
	t.Parallel()
	s := Default()
	s.Folder = t.TempDir()
	c := measured(5000, load.PodGroups)
	for i := range c.Turns {
		if c.Turns[i].Scheduler == Paddle {
			c.Turns[i].Bound--
		}
	}
	c.sum()
	r := newReport(s)
	r.add(c)
	var out strings.Builder
	require.NoError(t, r.show(&out))
	require.Contains(t, out.String(), "MISSED  live: 5000 nodes, 4000 pods in gangs of 20, scheduler alone: pods bound per second by stock's")
	require.Contains(t, out.String(), "2 of 2 missed")

	c.Pods = barPods - 1
	s.Folder = t.TempDir()
	small := newReport(s)
	small.add(c)
	small.addPrompt(Prompt{Scheduler: Paddle, Waits: make([]float64, barWaits-1), Sessions: times.Wait{P50: 9, P99: 9}})
	out.Reset()
	require.NoError(t, small.show(&out))
	require.Contains(t, out.String(), "0 of 0 missed; 4 not judged")
}
