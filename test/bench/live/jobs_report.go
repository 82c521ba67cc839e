// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"io"
	"slices"

	"github.com/paddle-volcano/paddle-volcano/test/bars"
	"github.com/paddle-volcano/paddle-volcano/test/bench/result"
	"github.com/paddle-volcano/paddle-volcano/test/stats"
)

// Bars of PaddleJobs beside equal Volcano Jobs.
const (
	barJobs   = 1000
	ratioBar  = 1.3
	rssBar    = 200
	writesBar = 8
	eventsBar = 5
)

// JobReport is what controller.json holds. Times are medians over the rounds, memory and writes those of the whole round.
type JobReport struct {
	Jobs       int     `json:"jobs"`
	Pods       int     `json:"pods"`
	Nodes      int     `json:"nodes"`
	PaddleJob  float64 `json:"paddlejob_s"`
	VolcanoJob float64 `json:"volcano_job_s"`
	Ratio      float64 `json:"ratio"`
	// Bare are Volcano Jobs whose pods have no start barrier.
	Bare        float64    `json:"volcano_job_without_barrier_s"`
	BareRatio   float64    `json:"ratio_without_barrier"`
	RSS         float64    `json:"controller_rss_mib"`
	Writes      float64    `json:"writes_per_job"`
	Events      float64    `json:"events_per_job"`
	RoundsTaken []JobRound `json:"rounds"`
	// RunFor is how long workers ran, in seconds.
	RunFor  float64        `json:"worker_run_for_s"`
	Machine result.Machine `json:"machine"`
	Bars    []bars.Bar     `json:"bars"`
}

// turns are the kinds of the rounds in their order. The two kinds that are compared go first in turn; the third, which no bar
// is about, has one round.
func (s *JobSettings) turns() []string {
	kinds := []string{kindBare}
	for i := range s.Rounds {
		pair := []string{kindVolcano, KindPaddle}
		if i%2 == 1 {
			slices.Reverse(pair)
		}
		kinds = append(kinds, pair...)
	}
	return kinds
}

// RunJobs compares, and writes controller.json.
func RunJobs(ctx context.Context, s JobSettings, progress io.Writer) error {
	if err := s.check(); err != nil {
		return err
	}
	var rounds []JobRound
	turns := s.turns()
	for i, kind := range turns {
		whole := kind == KindPaddle && !slices.Contains(turns[i+1:], KindPaddle)
		taken, err := s.round(ctx, kind, whole, progress)
		if err != nil {
			return err
		}
		result.Say(progress, "%s: %d jobs: pods created after %.1f s, peers known after %.1f s", kind, s.Jobs, taken.Created, taken.Ready)
		if taken.Ended > 0 {
			result.Say(progress, "%d pods had ended before the last was ready: let workers run for longer (--run-for)", taken.Ended)
		}
		rounds = append(rounds, taken)
	}
	return result.Write(s.Folder, "controller.json", s.report(rounds))
}

func (s *JobSettings) report(rounds []JobRound) *JobReport {
	r := &JobReport{
		Jobs: s.Jobs, Pods: s.Jobs * podsOfJob, Nodes: s.Nodes, RunFor: s.RunFor.Seconds(), Machine: result.ThisMachine(), RoundsTaken: rounds,
	}
	taken := map[string][]float64{}
	for i := range rounds {
		round := &rounds[i]
		taken[round.Kind] = append(taken[round.Kind], round.Ready)
		r.RSS = max(r.RSS, round.RSS)
		r.Writes = max(r.Writes, float64(sumOf(round.Writes))/float64(s.Jobs))
		r.Events = max(r.Events, float64(round.Events)/float64(s.Jobs))
	}
	r.PaddleJob, r.VolcanoJob, r.Bare = stats.Median(taken[KindPaddle]), stats.Median(taken[kindVolcano]), stats.Median(taken[kindBare])
	r.Ratio, r.BareRatio = r.PaddleJob/r.VolcanoJob, r.PaddleJob/r.Bare
	r.Bars = append(bars.OfSlice(s.Jobs >= barJobs,
		bars.Most("time of PaddleJobs by that of equal Volcano Jobs", r.Ratio, ratioBar),
		bars.Most("controller's memory, MiB", r.RSS, rssBar)),
		bars.Most("writes per job, Events apart", r.Writes, writesBar),
		bars.Most("Events per job", r.Events, eventsBar),
	)
	return r
}

// ProcessorSeconds are what each process has used until the pods knew their peers, by process and kind, of each round: where
// the machine's processors are all busy, the time is made of it.
func (r *JobReport) ProcessorSeconds() map[string]map[string][]float64 {
	used := map[string]map[string][]float64{}
	for i := range r.RoundsTaken {
		round := &r.RoundsTaken[i]
		for name, process := range round.Processes {
			if used[name] == nil {
				used[name] = map[string][]float64{}
			}
			used[name][round.Kind] = append(used[name][round.Kind], process.CPU)
		}
	}
	return used
}

func sumOf(counts map[string]int) (sum int) {
	for _, n := range counts {
		sum += n
	}
	return sum
}
