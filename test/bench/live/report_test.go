// SPDX-License-Identifier: Apache-2.0

package live

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/test/bench/live/load"
	"github.com/paddle-volcano/paddle-volcano/test/bench/live/times"
	"github.com/paddle-volcano/paddle-volcano/test/bench/live/usage"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

// measured returns a case of 4,000 pods with so many rounds of each scheduler.
func measured(nodes int, form string, rounds int, paddle float64) Case {
	c := Case{Nodes: nodes, Pods: 4000, Gangs: 200, Gang: 20, Form: form}
	for round := range rounds {
		faster := float64(round + 1) // the machine, from round to round
		for who, bound := range map[string]float64{Stock: 30, Tuned: 60, Paddle: paddle, Limit: 400} {
			c.Turns = append(c.Turns, Turn{
				Scheduler: who, Round: round, Figures: times.Figures{Bound: faster * bound},
				Processes: map[string]usage.Process{sandbox.Scheduler: {CPU: 3}, usage.Self: {CPU: 1}, sandbox.APIServer: {CPU: faster}},
			})
		}
	}
	return c
}

func TestReport(t *testing.T) {
	t.Parallel()
	r := newReport(Default())
	r.add(measured(5000, load.PodGroups, barRounds, 300))
	c := &r.Cases[0]
	require.Equal(t, map[string]float64{Stock: 120, Tuned: 240, Paddle: 1200, Limit: 1600}, c.Rates)
	require.Equal(t, map[string]Spread{Stock: {10, 10, 10}, Tuned: {5, 5, 5}, Limit: {0.75, 0.75, 0.75}}, c.Ratios, "of the same round")
	require.Equal(t, Spread{(3 + 4) / 4.0, (3 + 1) / 4.0, (3 + 7) / 4.0}, c.Processor[Paddle])
	require.Equal(t, Spread{(1 + 4) / 4.0, (1 + 1) / 4.0, (1 + 7) / 4.0}, c.Processor[Limit])
	r.add(measured(1000, load.PodGroups, barRounds, 300))
	r.add(measured(5000, load.VolcanoJobs, barRounds, 300))
	waits := make([]float64, barWaits)
	waits[0], waits[1] = 1.3, 1.3
	r.addPrompt(Prompt{Scheduler: Stock, Nodes: 5000, Waits: waits})
	r.addPrompt(Prompt{Scheduler: Paddle, Nodes: 1000, Waits: waits})
	r.addPrompt(Prompt{Scheduler: Paddle, Nodes: 5000, Waits: waits})
	r.addPrompt(Prompt{Scheduler: Paddle, Nodes: 500, Waits: make([]float64, barWaits)})
	require.Equal(t, []string{"met", "met", "met", "missed", "met"}, results(r))

	slow := newReport(Default())
	slow.add(measured(5000, load.PodGroups, barRounds, 299))
	require.Equal(t, []string{"missed", "missed", "missed"}, results(slow))

	fewPods, fewRounds := measured(5000, load.PodGroups, barRounds, 1), measured(5000, load.PodGroups, barRounds-1, 1)
	fewPods.Pods = barPods - 1
	for _, small := range []Case{fewPods, fewRounds} {
		few := newReport(Default())
		few.add(small)
		few.addPrompt(Prompt{Scheduler: Paddle, Nodes: 5000, Waits: waits[1:]})
		require.Equal(t, []string{"slice", "slice", "slice", "slice"}, results(few))
	}
}

func results(r *Report) (all []string) {
	for _, bar := range r.Bars {
		all = append(all, bar.Result())
	}
	return all
}
