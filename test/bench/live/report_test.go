// SPDX-License-Identifier: Apache-2.0

package live

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/test/bench/live/load"
	"github.com/paddle-volcano/paddle-volcano/test/bench/live/times"
)

// measured returns a case of 4,000 pods with three rounds of three schedulers.
func measured(nodes int, form string, paddle float64) Case {
	c := Case{Nodes: nodes, Pods: 4000, Gangs: 200, Gang: 20, Form: form}
	for who, rates := range map[string][]float64{Stock: {50, 40, 90}, Paddle: {310, 290, paddle}, Limit: {500, 400, 390}} {
		for round, bound := range rates {
			c.Turns = append(c.Turns, Turn{Scheduler: who, Round: round, Figures: times.Figures{Bound: bound}})
		}
	}
	return c
}

func TestReport(t *testing.T) {
	t.Parallel()
	r := newReport(Default())
	r.add(measured(5000, load.PodGroups, 300))
	require.Equal(t, map[string]float64{Stock: 50, Paddle: 300, Limit: 400}, r.Cases[0].Rates)
	r.add(measured(1000, load.PodGroups, 300))
	r.add(measured(5000, load.VolcanoJobs, 300))
	r.addPrompt(Prompt{Scheduler: Stock, Sessions: times.Wait{P50: 9, P99: 9}})
	r.addPrompt(Prompt{Scheduler: Paddle, Waits: make([]float64, barWaits), Sessions: times.Wait{P50: 1, P99: 2.2}})
	require.Equal(t, []string{"met", "met", "met", "missed"}, results(r))

	slow := newReport(Default())
	slow.add(measured(5000, load.PodGroups, 299))
	require.Equal(t, []string{"missed", "missed"}, results(slow))

	small := newReport(Default())
	c := measured(5000, load.PodGroups, 1)
	c.Pods = barPods - 1
	small.add(c)
	small.addPrompt(Prompt{Scheduler: Paddle, Waits: make([]float64, barWaits-1), Sessions: times.Wait{P50: 9, P99: 9}})
	require.Equal(t, []string{"slice", "slice", "slice", "slice"}, results(small))
}

func results(r *Report) (all []string) {
	for _, bar := range r.Bars {
		all = append(all, bar.Result())
	}
	return all
}
