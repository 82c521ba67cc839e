// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/paddle-volcano/paddle-volcano/test/bars"
	"github.com/paddle-volcano/paddle-volcano/test/stats"
)

// print tells what was measured, and of each bar whether it was met.
func (r *Report) print(out io.Writer) error {
	var text strings.Builder
	say := func(format string, args ...any) { _, _ = fmt.Fprintf(&text, format+"\n", args...) }
	for i := range r.RoundsTaken {
		round := &r.RoundsTaken[i]
		for _, write := range slices.Sorted(maps.Keys(round.Writes)) {
			say("writes  %-40s %.2f per job", write, float64(round.Writes[write])/float64(r.Jobs))
		}
	}
	used := r.ProcessorSeconds()
	for _, name := range slices.Sorted(maps.Keys(used)) {
		say("processor seconds  %-29s %6.1f of bare Volcano Jobs, %6.1f of equal ones, %6.1f of PaddleJobs", name,
			stats.Median(used[name][kindBare]), stats.Median(used[name][kindVolcano]), stats.Median(used[name][KindPaddle]))
	}
	for i := range r.RoundsTaken {
		round := &r.RoundsTaken[i]
		sum := 0.0
		for _, process := range round.Processes {
			sum += process.CPU
		}
		writes := 0
		for _, n := range round.Requests {
			writes += n
		}
		say("round of %s: ready after %.1f s, %.1f s of processor time, %.1f writes per job of everybody's, %d of %d pods ran", round.Kind, round.Ready, sum,
			float64(writes)/float64(r.Jobs), round.Running, r.Pods)
		if round.Early > 0 {
			say("%d jobs of the round of %s had ended before the last was ready: let workers run for longer (--run-for)", round.Early, round.Kind)
		}
	}
	say("PaddleJobs %.1f s; equal Volcano Jobs %.1f s (%.2f times theirs)", r.PaddleJob, r.VolcanoJob, r.Ratio)
	say("without the init container that waits for peers they need %.1f s (%.2f times theirs)", r.Bare, r.BareRatio)
	if _, err := io.WriteString(out, text.String()); err != nil {
		return err
	}
	return bars.Show(r.Bars, out)
}

// ProcessorSeconds are what each process has used until the pods knew their peers, by process and kind, of each round: where
// the machine's processors are all busy, the time is made of it.
func (r *Report) ProcessorSeconds() map[string]map[string][]float64 {
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
