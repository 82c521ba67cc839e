// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/test/docs"
	"github.com/paddle-volcano/paddle-volcano/test/stats"
)

// figuresMark stands above a table whose cells are figures of a kept result: the file, and the field of each column
// but the first, whose last word in backquotes is the scheduler.
var (
	figuresMark   = regexp.MustCompile(`^<!-- figures: (\S+)((?: \w+)+) -->$`)
	schedulerName = regexp.MustCompile("`([^`]+)`[^`]*$")
)

// A field of a run is written in a unit, with so many decimals.
type unit struct {
	size     float64
	decimals int
}

var units = map[string]unit{
	"gang_slowdown_mean": {1, 2}, "gang_slowdown_p95": {1, 2}, "gang_jct_mean_s": {1, 0}, "gang_wait_mean_s": {1, 0}, "crossing_bytes": {1e12, 0},
	"pods_s": {1, 1}, "gang_wait_p50_s": {1, 1}, "running_pods_s": {1, 1}, "cpu_s": {1, 1}, "peak_mib": {1, 0},
	"end_to_end_pods_s": {1, 1}, "scheduler_pods_s": {1, 1}, "partly_bound_s_p99": {1, 2}, "gangs_in_one_rack": {1, 0},
	"load_held": {0.01, 0}, "gang_wait_p99_s": {1, 1}, "pod_wait_p99_s": {1, 1}, "jobs_waiting": {1, 0}, "other_write_p99_s": {1, 2}, "scheduler_cpu_s": {1, 0},
	"crossing_nodes_bytes": {1e9, 0}, "crossing_racks_bytes": {1e9, 0}, "rss_mib": {1, 0}, "writes_per_pod": {1, 1},
}

// kept is what a table needs of a kept result: of the trace, of live schedulers, whose turns are runs of a form and a scheduler, of jobs that
// come and go, whose turns are runs of a load (0.7) and a scheduler, or of schedulers of several projects, whose turns are runs of gangs
// (50x20) and a scheduler.
type kept struct {
	Runs  []map[string]any
	Cases []struct {
		Form   string
		Rounds []struct {
			Scheduler string
			Bound     float64 `json:"pods_s"`
			Running   float64 `json:"running_pods_s"`
			GangWait  struct {
				P50 float64
			} `json:"gang_wait_s"`
			Processes map[string]struct {
				CPU  float64 `json:"cpu_s"`
				Peak float64 `json:"peak_mib"`
			}
		}
	}
	Churn []struct {
		Scheduler string
		Load      float64
		Held      float64 `json:"load_held"`
		Waiting   float64 `json:"jobs_waiting"`
		GangWait  struct {
			P50, P99 float64
		} `json:"gang_wait_s"`
		PodWait struct {
			P99 float64
		} `json:"pod_wait_s"`
		Others struct {
			Write struct {
				P99 float64
			} `json:"write_s"`
		}
		Processes []map[string]struct {
			CPU float64 `json:"cpu_s"`
		}
	}
	Turns []struct {
		Scheduler string
		Case      string
		Way       string
		Bound     float64 `json:"pods_s"`
		Partly    struct {
			P99 float64
		} `json:"partly_bound_s"`
		InOneRack float64 `json:"gangs_in_one_rack"`
		Crossing  struct {
			Nodes, Racks float64
		} `json:"crossing_bytes"`
		CPU    float64 `json:"cpu_s"`
		RSS    float64 `json:"rss_mib"`
		Writes float64 `json:"writes_per_pod"`
	}
}

// flatten adds all turns to the runs: cpu_s is the processor time of all programs, scheduler_cpu_s and peak_mib are the scheduler's.
func (k *kept) flatten() {
	for _, c := range k.Cases {
		for _, turn := range c.Rounds {
			cpu := 0.0
			for _, process := range turn.Processes {
				cpu += process.CPU
			}
			scheduler := turn.Processes["scheduler"].Peak + turn.Processes["volcano-scheduler"].Peak // one of them runs
			k.Runs = append(k.Runs, map[string]any{
				"scheduler": c.Form + " " + turn.Scheduler, "pods_s": turn.Bound, "running_pods_s": turn.Running, "gang_wait_p50_s": turn.GangWait.P50,
				"cpu_s": cpu, "peak_mib": scheduler,
			})
		}
	}
	for i := range k.Churn {
		c := &k.Churn[i]
		last := c.Processes[len(c.Processes)-1]
		k.Runs = append(k.Runs, map[string]any{
			"scheduler": fmt.Sprintf("%g %s", c.Load, c.Scheduler), "load_held": c.Held, "jobs_waiting": c.Waiting, "gang_wait_p50_s": c.GangWait.P50,
			"gang_wait_p99_s": c.GangWait.P99, "pod_wait_p99_s": c.PodWait.P99, "other_write_p99_s": c.Others.Write.P99,
			"scheduler_cpu_s": last["scheduler"].CPU + last["volcano-scheduler"].CPU, // one of them runs
		})
	}
	for i := range k.Turns {
		turn := &k.Turns[i]
		_, gangs, _ := strings.Cut(turn.Case, ", ") // 500 nodes, 50x20
		run := map[string]any{"scheduler": gangs + " " + turn.Scheduler, "scheduler_pods_s": turn.Bound}
		if turn.Way == "end to end" {
			run = map[string]any{
				"scheduler": gangs + " " + turn.Scheduler, "end_to_end_pods_s": turn.Bound, "partly_bound_s_p99": turn.Partly.P99,
				"gangs_in_one_rack": turn.InOneRack, "crossing_nodes_bytes": turn.Crossing.Nodes, "crossing_racks_bytes": turn.Crossing.Racks,
				"cpu_s": turn.CPU, "rss_mib": turn.RSS, "writes_per_pod": turn.Writes,
			}
		}
		k.Runs = append(k.Runs, run)
	}
}

// cell writes the median of a scheduler's runs and, if they differ, the least and the greatest.
func (k *kept) cell(scheduler, field string) (string, error) {
	in, known := units[field]
	var values []float64
	for _, run := range k.Runs {
		if value, ok := run[field].(float64); ok && run["scheduler"] == scheduler {
			values = append(values, value/in.size)
		}
	}
	if !known || len(values) == 0 {
		return "", fmt.Errorf("no run of scheduler %q has the field %q in a known unit", scheduler, field)
	}
	text := func(value float64) string {
		whole, decimals, found := strings.Cut(strconv.FormatFloat(value, 'f', in.decimals, 64), ".")
		if len(whole) > 3 {
			whole = whole[:len(whole)-3] + "," + whole[len(whole)-3:]
		}
		if found {
			whole += "." + decimals
		}
		return whole
	}
	median, least, most := text(stats.Median(values)), text(slices.Min(values)), text(slices.Max(values))
	if least == most {
		return median, nil
	}
	return fmt.Sprintf("%s (%s–%s)", median, least, most), nil
}

// withFigures returns a page with the figures of the results that read returns by their path.
func withFigures(page string, read func(path string) (*kept, error)) (string, error) {
	lines := strings.Split(page, "\n")
	for i := range lines {
		mark := figuresMark.FindStringSubmatch(lines[i])
		if mark == nil {
			continue
		}
		results, err := read(mark[1])
		if err != nil {
			return "", err
		}
		fields, first := strings.Fields(mark[2]), i+3 // after the head and the line below it
		for row := first; row < len(lines) && strings.HasPrefix(lines[row], "|"); row++ {
			cells := strings.Split(lines[row], "|")
			name := schedulerName.FindStringSubmatch(cells[1])
			if name == nil || len(cells) != len(fields)+3 {
				return "", fmt.Errorf("row %q: want a scheduler's name in backquotes, and %d cells", lines[row], len(fields))
			}
			for column, field := range fields {
				cell, err := results.cell(name[1], field)
				if err != nil {
					return "", fmt.Errorf("row %q: %w", lines[row], err)
				}
				cells[column+2] = " " + cell + " "
			}
			lines[row] = strings.Join(cells, "|")
		}
		if first >= len(lines) || !strings.HasPrefix(lines[first], "|") {
			return "", fmt.Errorf("%s: no table follows", lines[i])
		}
	}
	return strings.Join(lines, "\n"), nil
}

func TestWithFigures(t *testing.T) {
	read := func(string) (*kept, error) {
		return &kept{Runs: []map[string]any{
			{"scheduler": "a", "gang_slowdown_mean": 1.25, "crossing_bytes": 1.5e15}, {"scheduler": "a", "gang_slowdown_mean": 1.5, "crossing_bytes": 2e12},
			{"scheduler": "b", "gang_slowdown_mean": 2.0, "crossing_bytes": 3e12},
		}}, nil
	}
	const head = "<!-- figures: a.json gang_slowdown_mean crossing_bytes -->\n| | s | TB |\n|---|--:|--:|\n"
	for name, tc := range map[string]struct{ page, want, fault string }{
		"figures":      {page: head + "| A (`a`) | 1 | |\n| `b` | | 7 |\n\n| `c` | |", want: head + "| A (`a`) | 1.38 (1.25–1.50) | 751 (2–1,500) |\n| `b` | 2.00 | 3 |\n\n| `c` | |"},
		"no mark":      {page: "| `a` | 1 | 2 |", want: "| `a` | 1 | 2 |"},
		"no scheduler": {page: head + "| a | 1 | 2 |", fault: "in backquotes"},
		"no run":       {page: head + "| `c` | 1 | 2 |", fault: `no run of scheduler "c"`},
		"no unit":      {page: strings.Replace(head, "crossing_bytes", "seed", 1) + "| `a` | 1 | 2 |", fault: `field "seed"`},
		"cells":        {page: head + "| `a` | 1 |", fault: "2 cells"},
		"no table":     {page: head, fault: "no table follows"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := withFigures(tc.page, read)
			if tc.fault != "" {
				require.ErrorContains(t, err, tc.fault)
				return
			}
			require.NoError(t, err)
			require.Equal(t, tc.want, got)
		})
	}
}

// The figures of the pages are those of the results that are kept. With -update they are written.
func TestFiguresAreThoseOfTheKeptResults(t *testing.T) {
	read := func(path string) (*kept, error) {
		text, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			return nil, err
		}
		results := &kept{}
		err = json.Unmarshal(text, results)
		results.flatten()
		return results, err
	}
	all, err := docs.Load(os.DirFS(root))
	require.NoError(t, err)
	tables := map[string]int{}
	for _, page := range all {
		path := filepath.Join(root, page.Path)
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		want, err := withFigures(string(text), read)
		require.NoError(t, err, page.Path)
		tables[page.Path] = strings.Count(want, "\n<!-- figures: ")
		if *update && want != string(text) {
			require.NoError(t, os.WriteFile(path, []byte(want), 0o600))
			continue
		}
		written := strings.Split(string(text), "\n")
		for i, line := range strings.Split(want, "\n") {
			require.Equal(t, line, written[i], "%s:%d: another figure is kept; go test ./test/docs -run TestFigures -update writes it", page.Path, i+1)
		}
	}
	for _, path := range []string{"README.md", "README.zh.md", "test/bench/README.md", "test/bench/peers/README.md"} {
		require.Positive(t, tables[path], "%s quotes no figures", path)
	}
}
