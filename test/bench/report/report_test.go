// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/test/bars"
	"github.com/paddle-volcano/paddle-volcano/test/bench/live"
	"github.com/paddle-volcano/paddle-volcano/test/bench/live/times"
	"github.com/paddle-volcano/paddle-volcano/test/bench/live/usage"
	"github.com/paddle-volcano/paddle-volcano/test/bench/peers"
	"github.com/paddle-volcano/paddle-volcano/test/bench/trace"
	"github.com/paddle-volcano/paddle-volcano/test/placement/bench"
	"github.com/paddle-volcano/paddle-volcano/test/session"
	"github.com/paddle-volcano/paddle-volcano/test/session/speed"
	"github.com/paddle-volcano/paddle-volcano/test/soak"
)

// put writes a report as its benchmark does.
func put(t *testing.T, folder, file string, content any) {
	t.Helper()
	text, err := json.Marshal(content)
	require.NoError(t, err)
	path := filepath.Join(folder, file)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, text, 0o600))
}

// written returns a folder with a report of everything.
func written(t *testing.T, seconds ...float64) string {
	t.Helper()
	folder := t.TempDir()
	measured := &live.Report{Settings: live.Settings{Schedulers: []string{live.Stock, live.Paddle, live.Limit}, Rounds: 2}}
	bound := live.Case{Nodes: 5000, Pods: 1000, Gang: 20, Gangs: 50, Form: "podgroup"}
	for i, rate := range []float64{50, 60, 300, 320, 400, 410} {
		turn := live.Turn{Scheduler: measured.Settings.Schedulers[i/2], Processes: map[string]usage.Process{"kube-apiserver": {CPU: rate / 100}}}
		turn.Bound, turn.GangWait.P99 = rate, 1000/rate
		bound.Turns = append(bound.Turns, turn)
	}
	measured.Cases = []live.Case{bound}
	measured.Prompt = []live.Prompt{{Scheduler: live.Paddle, Nodes: 5000, Pending: 192, Waits: []float64{1, 2}}}
	going := live.Churn{Scheduler: live.Paddle, Nodes: 500, Load: 0.9, Seconds: 1800, Writes: map[string]float64{"kwok": 4}, Processes: []map[string]usage.Process{{"etcd": {RSS: 50}}, {"etcd": {RSS: 70}}, {"etcd": {RSS: 60}}}, Failover: &live.Failover{Scheduler: 3}}
	going.Others.Write.P99 = 0.25
	measured.Churn = []live.Churn{going}
	put(t, folder, "bench/live.json", measured)
	put(t, folder, "bench/kind/live.json", measured)
	placed := peers.Turn{Scheduler: "kai", Case: "500 nodes, 50x20", Way: peers.EndToEnd, Places: peers.Places{OneRack: 50}}
	placed.Bound = 120
	put(t, folder, "bench/peers.json", &peers.Report{
		Settings: peers.Default(), Turns: []peers.Turn{placed}, Peers: []peers.Row{{Scheduler: placed.Scheduler, Version: "v0.12.0", Case: placed.Case}},
	})
	played := &trace.Report{Settings: trace.Settings{Loads: []float64{0.85}, Schedulers: []string{"network-topology-aware", "paddle-bytes"}, Seeds: []uint64{1, 2}}}
	for i, jct := range []float64{36000, 72000, 3600, 7200} {
		run := trace.Run{Case: trace.Case{Load: 0.85, Scheduler: played.Settings.Schedulers[i/2], Seed: uint64(i%2 + 1)}}
		run.GangJCTMean, run.Crossing = jct, 1e12*jct
		played.Runs = append(played.Runs, run)
	}
	played.Bars = []bars.Bar{bars.Above("trace: better", 10, 1)}
	put(t, folder, "bench/trace.json", played)
	put(t, folder, "bench/session.json", &session.Report{Seed: 7, Speed: []speed.Row{{
		Nodes: 1000, Pods: 2000, Gang: 20, Mode: "PS", StockRuns: []float64{20}, PaddleRuns: seconds, Ratio: 100,
	}}})
	put(t, folder, "bench/placement.json", &bench.Report{Seed: 7, Speed: []bench.Speed{{Case: "64 servers", Nodes: 100, MS: 3}}})
	put(t, folder, "bench/controller.json", &live.JobReport{
		Jobs: 10, Pods: 100, Writes: 9.5, Bars: []bars.Bar{bars.Most("writes <per> job", 9.5, 8)},
		RoundsTaken: []live.JobRound{{Kind: "Volcano Job", Ready: 10, AllRunning: 10}, {Kind: live.KindPaddle, Ready: 12, AllRunning: 20, Processes: map[string]usage.Process{"etcd": {CPU: 2.5}}, Timeline: []times.Stage{{What: "pods bound", P50: 7, Last: 11}}, RSS: 100, Writes: map[string]int{"create jobs": 10}}},
	})
	put(t, folder, "soak/report.json", &soak.Report{Seed: 7, Operations: map[string]int{"delete": 3}, Rounds: []soak.Round{
		{Sizes: map[string]soak.Size{"controller": {Goroutines: 90, Heap: 10}, "scheduler": {Goroutines: 250, Heap: 15}}},
		{Sizes: map[string]soak.Size{"controller": {Goroutines: 91, Heap: 11}, "scheduler": {Goroutines: 250, Heap: 15}}},
	}})
	return folder
}

// has looks for a text without printing the whole page if it is not there.
func has(t *testing.T, page []byte, want string) {
	t.Helper()
	require.True(t, bytes.Contains(page, []byte(want)), "not on the page: %s", want)
}

var shownParts = regexp.MustCompile(`<tr class="figure"><td>(.*?)</td><td class="n">(.*?)</td><td class="n">(.*?)</td><td>(.*?)</td></tr>`)

// shown returns the figures of a page: "name: median unit (least…greatest)".
func shown(page []byte) (all []string) {
	for _, m := range shownParts.FindAllStringSubmatch(string(page), -1) {
		all = append(all, strings.TrimSpace(m[1]+": "+m[2]+" "+m[4]+" "+m[3]))
	}
	return all
}

func TestNumber(t *testing.T) {
	t.Parallel()
	for want, v := range map[string]float64{
		"0": 0, "0.00123": 0.001234, "1.23": 1.234, "12.3": 12.34, "123": 123.4, "12346": 12345.6, "123k": 123456, "1.23M": 1.234e6,
		"29.8T": 29.814e12, "-1.50G": -1.5e9, "2.00P": 2e15,
	} {
		require.Equal(t, want, number(v))
	}
}

func TestWhatWasNotMeasuredIsNoFigure(t *testing.T) {
	t.Parallel()
	s := &Section{}
	s.figure("none", "s", false)
	s.figure("unknown", "s", false, math.NaN(), math.Inf(1))
	s.figure("partly known", "s", true, math.NaN(), 30, 10, 20)
	s.halves("heap", "MB", []float64{1, 2, 5})
	require.Equal(t, []Figure{
		{Name: "partly known", Unit: "s", Values: []float64{30, 10, 20}, More: true},
		{Name: "heap, first half", Unit: "MB", Values: []float64{1}}, {Name: "heap, second half", Unit: "MB", Values: []float64{2, 5}},
	}, s.Figures)
	require.Equal(t, Spread{Median: 20, Least: 10, Greatest: 30, Rounds: 3}, s.Figures[0].Spread())

	const requests = "requests at a time of the limit"
	of := func(schedulers ...string) string {
		return fmt.Sprint(onKind(&live.Report{Settings: live.Settings{Schedulers: schedulers, Concurrency: 64}}).Facts)
	}
	require.Contains(t, of(live.Limit), requests)
	require.NotContains(t, of(live.Stock, live.Paddle), requests)
	turn := live.Turn{Scheduler: live.Paddle}
	turn.Bound, turn.BoundAfter = 10, 10
	reading := func() string {
		return fmt.Sprint(onKind(&live.Report{Settings: live.Settings{Schedulers: []string{live.Paddle}}, Cases: []live.Case{{Turns: []live.Turn{turn}}}}).Figures)
	}
	require.NotContains(t, reading(), "without the time in which the cluster was read")
	turn.Read = 1
	require.Contains(t, reading(), "without the time in which the cluster was read")
}

func TestPage(t *testing.T) {
	t.Parallel()
	folder := written(t, 0.2, 0.1, 0.3)
	var said bytes.Buffer
	require.NoError(t, Make(folder, &said))
	require.Contains(t, said.String(), "8 benchmarks, 1 of 3 bars missed")
	text, err := os.ReadFile(filepath.Join(folder, "bench", "report.html"))
	require.NoError(t, err)
	for _, want := range []string{
		"3 things were asked for; <span class=\"bad\">1 were missed</span>", "writes &lt;per&gt; job", "make bench-session SEED=7", "make kind-up kind-bench",
	} {
		has(t, text, want)
	}
	require.Subset(t, shown(text), []string{
		"pods bound, 5000 nodes, 50x20 as podgroup, stock: 55.0 pods per second 50.0…60.0",
		"pods bound, 5000 nodes, 50x20 as podgroup, paddle: 310 pods per second 300…320",
		"processor time of kube-apiserver, 5000 nodes, 50x20 as podgroup, paddle: 3.10 s 3.00…3.20",
		"bound once it fits, 5000 nodes, 192 pods pending, paddle: 1.50 s 1.00…2.00",
		"99 of 100 of another user&#39;s writes are answered within, churn of 1800 s, 500 nodes, load 0.9, paddle: 0.25 s",
		"writes of kwok, churn of 1800 s, 500 nodes, load 0.9, paddle: 4.00 per pod",
		"memory of etcd at the end, churn of 1800 s, 500 nodes, load 0.9, paddle: 60.0 MiB",
		"scheduler killed, until the next binding, churn of 1800 s, 500 nodes, load 0.9, paddle: 3.00 s",
		"pods bound from end to end, 500 nodes, 50x20, kai: 120 pods per second", "gangs in one rack, 500 nodes, 50x20, kai: 50.0",
		"from create to all peers known: PaddleJob: 12.0 s", "processor time of etcd until then: PaddleJob: 2.50 s",
		"pods bound, half of them: PaddleJob: 7.00 s after the first create", "pods bound, the last: PaddleJob: 11.0 s after the first create",
		"controller&#39;s requests: create jobs: 1.00 per job",
		"completion time of gangs (jobs of several pods), mean over jobs, load 0.85, network-topology-aware: 15.0 h 10.0…20.0",
		"completion time of gangs (jobs of several pods), mean over jobs, load 0.85, paddle-bytes: 1.50 h 1.00…2.00",
		"session, 1000 nodes, 2000 pods in gangs of 20, PS: 0.2 s 0.1…0.3", "session of stock, 1000 nodes, 2000 pods in gangs of 20, PS: 20.0 s",
		"64 servers on 100 nodes: 3.00 ms",
		"controller: heap when nothing is left, first half: 10.0 MiB", "controller: heap when nothing is left, second half: 11.0 MiB",
		"controller: goroutines when nothing is left, second half: 91.0",
	})
	require.False(t, bytes.Contains(text, []byte("ZgotmplZ")), "the template trusts what it was given")
	require.False(t, regexp.MustCompile(`(src|href)="http|@import|url\(`).Match(text), "it needs nothing else")
	require.False(t, bytes.Contains(text, []byte("NaN")))

	var again bytes.Buffer
	p, err := Read(folder)
	require.NoError(t, err)
	require.NoError(t, p.HTML(&again))
	require.True(t, bytes.Equal(text, again.Bytes()))
}

func TestRounds(t *testing.T) {
	t.Parallel()
	of := func(rounds ...int) (c live.Case) {
		for _, round := range rounds {
			c.Turns = append(c.Turns, live.Turn{Round: round})
		}
		return c
	}
	require.Equal(t, "2, 3", rounds([]live.Case{of(0, 1, 2, 0, 1, 2), of(0, 1), of(1, 0)}))
}

func TestWhatWasNotMeasuredIsSaid(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	_, err := Read(folder)
	require.ErrorContains(t, err, "run make bench first")
	put(t, folder, "bench/controller.json", &live.JobReport{})
	p, err := Read(folder)
	require.NoError(t, err)
	require.Equal(t, []string{"bench/live.json", "bench/kind/live.json", "bench/peers.json", "bench/peers-1.37.json", "bench/trace.json", "bench/session.json", "bench/placement.json", "soak/report.json"}, p.Missing)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "bench", "trace.json"), []byte("{"), 0o600))
	_, err = Read(folder)
	require.ErrorContains(t, err, "trace.json: unexpected end of JSON input; run its benchmark again")
	require.Error(t, Make(t.TempDir(), &bytes.Buffer{}))
}
