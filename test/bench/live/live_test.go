// SPDX-License-Identifier: Apache-2.0

package live

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/test/bench/live/load"
	"github.com/paddle-volcano/paddle-volcano/test/bench/live/usage"
	"github.com/paddle-volcano/paddle-volcano/test/live"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

// A slice of everything: all forms, all schedulers, gangs and single pods, on a separate control plane.
func TestRun(t *testing.T) {
	live.SkipUnlessAll(t)
	s := Default()
	s.Nodes, s.Gangs, s.Scale, s.Rounds, s.Concurrency, s.Takeovers, s.Patience = []int{6}, []string{"3x5"}, 1, 1, 8, 4, time.Minute
	s.Folder = filepath.Join(t.TempDir(), "bench")
	require.NoError(t, Run(t.Context(), s, testWriter{t}))
	require.NoDirExists(t, filepath.Join(s.Folder, "live-state"))

	text, err := os.ReadFile(filepath.Join(s.Folder, "live.json"))
	require.NoError(t, err)
	var r Report
	require.NoError(t, json.Unmarshal(text, &r))
	require.Len(t, r.Cases, 3)
	for i := range r.Cases {
		c := &r.Cases[i]
		want := order(Schedulers(), c.Form, 0)
		require.Len(t, c.Turns, len(want), c)
		for i, who := range want {
			turn := &c.Turns[i]
			require.Equal(t, who, turn.Scheduler)
			require.Equal(t, 15, turn.Calls[binderOf(who).user]["create pods/binding"], "%s: %s", c, who)
			require.Positive(t, turn.Bound)
			require.Positive(t, turn.Created)
			require.Equal(t, c.Form != load.PodGroups, turn.Running > 0, "%s: %s", c, who)
			require.Contains(t, turn.Processes, sandbox.APIServer)
			require.Contains(t, turn.Processes, usage.Self)
			require.Equal(t, c.Form != load.PodGroups, turn.Calls["paddle-sandbox:kwok"] != nil, "kwok runs for jobs only")
			if component := binderOf(who).component; component != "" {
				require.Positive(t, turn.Processes[component].Peak)
			}
		}
		require.Positive(t, c.Rates[Stock])
		require.Equal(t, c.Form == load.PodGroups, c.Rates[Limit] > 0)
	}
	require.Len(t, r.Prompt, 2)
	for _, p := range r.Prompt {
		require.Len(t, p.Waits, 4)
		for _, wait := range p.Waits {
			require.Positive(t, wait)
		}
		require.Positive(t, p.Session)
	}
	require.Equal(t, map[string]int{"create pods/binding": 15}, r.Cases[0].Turns[3].Calls[volcanoUser], "the limit binds, and does nothing else")

	// What was measured is kept; here nothing is left to do, and no cluster is started, which would take longer than patience.
	s.Keep, s.Scale, s.Rounds, s.Patience = true, 0.5, 2, time.Second
	require.NoError(t, Run(t.Context(), s, testWriter{t}))
	text, err = os.ReadFile(filepath.Join(s.Folder, "live.json"))
	require.NoError(t, err)
	var kept Report
	require.NoError(t, json.Unmarshal(text, &kept))
	kept.Settings.Scale, kept.Settings.Rounds = r.Settings.Scale, r.Settings.Rounds
	require.Equal(t, r, kept)
	s.Forms, s.Takeovers = []string{load.PaddleJobs}, 0
	require.NoError(t, Run(t.Context(), s, testWriter{t}))
	text, err = os.ReadFile(filepath.Join(s.Folder, "live.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &kept))
	require.Len(t, kept.Cases, 3, "what is not asked for again is not lost")
	require.Equal(t, r.Prompt, kept.Prompt)
	s.Concurrency++
	require.ErrorContains(t, Run(t.Context(), s, testWriter{t}), "a limit with 8 requests at a time")
}

// Twenty seconds of jobs that come and go, for two schedulers at both loads.
func TestChurn(t *testing.T) {
	live.SkipUnlessAll(t)
	s := Default()
	s.Nodes, s.Schedulers, s.Churn, s.RunFor, s.Patience, s.Folder = []int{16}, []string{Tuned, Paddle}, 20*time.Second, 15*time.Second, time.Minute, t.TempDir()
	seen := &logOfTurn{testWriter: testWriter{t}, turn: ": " + Tuned + " bound", log: filepath.Join(s.Folder, "live-state", "logs", sandbox.VolcanoScheduler+".log")}
	require.NoError(t, Run(t.Context(), s, seen))
	require.Contains(t, seen.text, "Creating default queue")
	require.NotContains(t, seen.text, "Open Session", "-v=1 is one of the arguments of "+Tuned)
	text, err := os.ReadFile(filepath.Join(s.Folder, "live.json"))
	require.NoError(t, err)
	var r Report
	require.NoError(t, json.Unmarshal(text, &r))
	require.Len(t, r.Churn, 4)
	var turns []string
	for i := range r.Churn {
		c := &r.Churn[i]
		turns = append(turns, c.Scheduler)
		require.Positive(t, c.Pods)
		require.Less(t, c.Waiting, c.Jobs)
		require.Greater(t, c.Held, c.Load/2)
		require.Positive(t, c.PodWait.P50)
		require.Zero(t, c.Others.Failed)
		require.Greater(t, c.Others.Requests, 200, "two requests every 100 ms")
		require.Positive(t, c.Others.Write.P50)
		require.Positive(t, c.Others.Read.P50)
		require.Len(t, c.Processes, 3)
		component := binderOf(c.Scheduler).component
		require.Positive(t, c.Processes[0][component].RSS)
		require.Greater(t, c.Processes[2][component].CPU, c.Processes[1][component].CPU)
		require.GreaterOrEqual(t, c.Writes[volcanoUser], 1.0, "a binding for each pod")
		require.Positive(t, c.Events[volcanoUser])
		require.Less(t, c.Silent, c.Pods)
		require.Equal(t, c.Scheduler == Paddle, c.Failover != nil)
		if c.Failover != nil {
			require.Positive(t, c.Failover.Scheduler)
			require.Positive(t, c.Failover.Controller)
		}
	}
	require.Equal(t, []string{Tuned, Paddle, Paddle, Tuned}, turns)
}

// logOfTurn reads a log when progress says that a turn is over: it is removed later.
type logOfTurn struct {
	testWriter
	turn, log, text string
}

func (w *logOfTurn) Write(line []byte) (int, error) {
	if strings.Contains(string(line), w.turn) {
		text, err := os.ReadFile(w.log)
		require.NoError(w, err)
		w.text = string(text)
	}
	return w.testWriter.Write(line)
}

// testWriter logs progress.
type testWriter struct{ *testing.T }

func (w testWriter) Write(text []byte) (int, error) {
	w.Log(strings.TrimSpace(string(text)))
	return len(text), nil
}

// One round of PaddleJobs, to their end: what the bars of bench-controller are about.
func TestRoundOfPaddleJobs(t *testing.T) {
	live.SkipUnlessAll(t)
	s := JobSettings{Jobs: 4, Nodes: 4, Rounds: 1, RunFor: 3 * time.Second, Patience: 2 * time.Minute, Folder: t.TempDir()}
	r, err := s.Round(t.Context(), KindPaddle, true, testWriter{t})
	require.NoError(t, err)
	require.Positive(t, r.Created)
	require.Greater(t, r.Ready, r.Created)
	require.GreaterOrEqual(t, r.AllRunning, r.Ready)
	require.Greater(t, r.Completed, r.AllRunning)
	require.Positive(t, r.RSS)
	require.Positive(t, r.Events)
	require.Equal(t, []int{4, 4}, []int{r.Writes["create jobs"], r.Writes["create configmaps"]})
	require.GreaterOrEqual(t, r.Writes["update paddlejobs/status"]+r.Writes["patch paddlejobs/status"], 4)
	require.GreaterOrEqual(t, r.Requests["create pods"], 4*PodsOfJob)
	require.Contains(t, r.Processes, sandbox.Controller)
}
