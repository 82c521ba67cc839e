// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/paddle-volcano/paddle-volcano/test/bars"
	"github.com/paddle-volcano/paddle-volcano/test/session/report"
	"github.com/paddle-volcano/paddle-volcano/test/stats"
)

// Bars of `make bench-controller`.
const (
	barJobs   = 1000
	ratioBar  = 1.3
	rssBar    = 200
	writesBar = 8
	eventsBar = 5
)

// Report is what controller.json holds. Times are medians over the rounds, memory and writes the most of any.
type Report struct {
	Jobs       int     `json:"jobs"`
	Pods       int     `json:"pods"`
	Nodes      int     `json:"nodes"`
	PaddleJob  float64 `json:"paddlejob_s"`
	VolcanoJob float64 `json:"volcano_job_s"`
	Ratio      float64 `json:"ratio"`
	// Bare are Volcano Jobs whose pods have no start barrier.
	Bare        float64 `json:"volcano_job_without_barrier_s"`
	BareRatio   float64 `json:"ratio_without_barrier"`
	RSS         float64 `json:"controller_rss_mib"`
	Writes      float64 `json:"writes_per_job"`
	Events      float64 `json:"events_per_job"`
	RoundsTaken []Round `json:"rounds"`
	// RunFor is how long workers ran, in seconds.
	RunFor  float64        `json:"worker_run_for_s"`
	Machine report.Machine `json:"machine"`
	Bars    []bars.Bar     `json:"bars"`
}

// turns are the kinds of the rounds in their order, and the one of PaddleJobs that goes on until every job has ended. The two
// kinds that are compared go first in turn; the third, which no bar is about, has one round.
func (s *Settings) turns() (kinds []string, whole int) {
	kinds = []string{kindBare}
	for i := range s.Rounds {
		if i%2 == 0 {
			kinds = append(kinds, kindVolcano, KindPaddle)
		} else {
			kinds = append(kinds, KindPaddle, kindVolcano)
		}
	}
	for i, kind := range kinds {
		if kind == KindPaddle {
			whole = i
		}
	}
	return kinds, whole
}

// Run measures, writes controller.json, and tells what was asked for and what it is.
func Run(ctx context.Context, s Settings, out, progress io.Writer) error {
	if err := s.check(); err != nil {
		return err
	}
	if err := os.MkdirAll(s.Folder, 0o755); err != nil {
		return fmt.Errorf("make the folder for results: %w", err)
	}
	var rounds []Round
	turns, whole := s.turns()
	for i, kind := range turns {
		taken, err := s.round(ctx, kind, i == whole, progress)
		if err != nil {
			return err
		}
		_, _ = fmt.Fprintf(progress, "%s: %d jobs: pods created after %.1f s, peers known after %.1f s\n",
			kind, s.Jobs, taken.Created, taken.Ready)
		rounds = append(rounds, taken)
	}
	r := s.report(rounds)
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	path := filepath.Join(s.Folder, "controller.json")
	if err := os.WriteFile(path, append(text, '\n'), 0o644); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	if err := r.print(out); err != nil {
		return fmt.Errorf("show the report: %w", err)
	}
	_, err = fmt.Fprintf(out, "wrote %s\n", path)
	return err
}

func (s *Settings) report(rounds []Round) *Report {
	r := &Report{Jobs: s.Jobs, Pods: s.pods(), Nodes: s.Nodes, RunFor: s.RunFor.Seconds(), Machine: report.ThisMachine(), RoundsTaken: rounds}
	times := map[string][]float64{}
	for i := range rounds {
		round := &rounds[i]
		times[round.Kind] = append(times[round.Kind], round.Ready)
		r.RSS = max(r.RSS, round.RSS)
		r.Writes = max(r.Writes, float64(round.Writes.sum())/float64(s.Jobs))
		r.Events = max(r.Events, float64(round.Events)/float64(s.Jobs))
	}
	r.PaddleJob, r.VolcanoJob = stats.Median(times[KindPaddle]), stats.Median(times[kindVolcano])
	r.Bare = stats.Median(times[kindBare])
	r.Ratio, r.BareRatio = r.PaddleJob/r.VolcanoJob, r.PaddleJob/r.Bare
	r.Bars = append(bars.OfSlice(s.Jobs >= barJobs,
		bars.Most("time of PaddleJobs by that of equal Volcano Jobs", r.Ratio, ratioBar),
		bars.Most("controller's memory, MiB", r.RSS, rssBar)),
		bars.Most("writes per job, Events apart", r.Writes, writesBar),
		bars.Most("Events per job", r.Events, eventsBar),
	)
	return r
}
