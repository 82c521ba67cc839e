// SPDX-License-Identifier: Apache-2.0

package peers

import (
	"context"
	"fmt"
	"io"

	"github.com/paddle-volcano/paddle-volcano/test/bench/live/times"
	"github.com/paddle-volcano/paddle-volcano/test/bench/result"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox/programs"
	"github.com/paddle-volcano/paddle-volcano/test/stats"
)

// Report is what peers.json holds.
type Report struct {
	Machine  result.Machine `json:"machine"`
	Settings Settings       `json:"settings"`
	Peers    []Row          `json:"peers"`
	Turns    []Turn         `json:"turns"`
}

// Row is one scheduler in one case: medians over the rounds, of percentiles too. All but Alone are those of turns from end to end.
type Row struct {
	Scheduler   string     `json:"scheduler"`
	Version     string     `json:"version"`
	Case        string     `json:"case"`
	EndToEnd    float64    `json:"end_to_end_pods_s"`
	Alone       float64    `json:"scheduler_pods_s"`
	PartlyBound times.Wait `json:"partly_bound_s"`
	OneRack     float64    `json:"gangs_in_one_rack"`
	Crossing    Crossing   `json:"crossing_bytes"`
	CPU         float64    `json:"cpu_s"`
	RSS         float64    `json:"rss_mib"`
	Writes      float64    `json:"writes_per_pod"`
	// Unfit and Unbound are the most of a turn of either way.
	Unfit   int `json:"bound_pods_of_a_gang_that_no_rack_holds"`
	Unbound int `json:"unbound_pods"`
}

// Run compares, and writes the report after each turn.
func Run(ctx context.Context, s Settings, progress io.Writer) error {
	cases, err := s.complete()
	if err != nil {
		return err
	}
	versions := map[string]string{}
	for _, name := range s.Schedulers {
		p, err := newPeer(name, s.Kubernetes, true)
		if err != nil {
			return err
		}
		if versions[name], _, err = programs.Module(ctx, p.module, p.path); err != nil {
			return err
		}
		p.options.Progress = progress
		if _, err := sandbox.Build(ctx, p.options); err != nil {
			return fmt.Errorf("build %s: %w", name, err)
		}
	}
	r := &Report{Machine: result.ThisMachine(), Settings: s}
	for round := range s.Rounds {
		for _, c := range cases {
			for _, name := range rotated(s.Schedulers, round) {
				for _, way := range []string{EndToEnd, Alone} {
					turn, err := s.take(ctx, name, c, way)
					if err != nil {
						return fmt.Errorf("turn of %s, %s, %s: %w", name, c, way, err)
					}
					turn.Scheduler, turn.Version, turn.Case, turn.Round, turn.Way = name, versions[name], c.String(), round, way
					result.Say(progress, "round %d of %d: %s: %s, %s: %.1f pods/s (%.1f s), %d of %d gangs in one rack, %d pods not bound, %d bound of a gang that no rack holds",
						round+1, s.Rounds, c, name, way, turn.Bound, turn.Seconds, turn.OneRack, c.Gangs, turn.Unbound, turn.Unfit)
					r.add(turn)
					if err := result.Write(s.Folder, s.File(), r); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

// add adds a turn, and sums up the turns again, in the order of the first ones.
func (r *Report) add(turn Turn) {
	r.Turns, r.Peers = append(r.Turns, turn), nil
	done := map[[2]string]bool{}
	for i := range r.Turns {
		t := &r.Turns[i]
		if key := [2]string{t.Case, t.Scheduler}; !done[key] {
			done[key] = true
			r.Peers = append(r.Peers, r.row(t))
		}
	}
}

// Values returns a figure of all turns of a scheduler in a case.
func (r *Report) Values(scheduler, of, way string, figure func(*Turn) float64) (values []float64) {
	for i := range r.Turns {
		if t := &r.Turns[i]; t.Scheduler == scheduler && t.Case == of && t.Way == way {
			values = append(values, figure(t))
		}
	}
	return values
}

// row sums up the turns of the same scheduler and case as one of them.
func (r *Report) row(first *Turn) Row {
	median := func(way string, figure func(*Turn) float64) float64 {
		return stats.Median(r.Values(first.Scheduler, first.Case, way, figure))
	}
	row := Row{Scheduler: first.Scheduler, Version: first.Version, Case: first.Case, Alone: median(Alone, func(t *Turn) float64 { return t.Bound })}
	for into, figure := range map[*float64]func(*Turn) float64{
		&row.EndToEnd: func(t *Turn) float64 { return t.Bound }, &row.OneRack: func(t *Turn) float64 { return float64(t.OneRack) },
		&row.PartlyBound.P50: func(t *Turn) float64 { return t.PartlyBound.P50 }, &row.PartlyBound.P99: func(t *Turn) float64 { return t.PartlyBound.P99 },
		&row.PartlyBound.Max: func(t *Turn) float64 { return t.PartlyBound.Max },
		&row.Crossing.Nodes:  func(t *Turn) float64 { return t.Crossing.Nodes }, &row.Crossing.Racks: func(t *Turn) float64 { return t.Crossing.Racks },
		&row.Crossing.Blocks: func(t *Turn) float64 { return t.Crossing.Blocks }, &row.CPU: func(t *Turn) float64 { return t.CPU },
		&row.RSS: func(t *Turn) float64 { return t.RSS }, &row.Writes: func(t *Turn) float64 { return t.Writes },
	} {
		*into = median(EndToEnd, figure)
	}
	for i := range r.Turns {
		if t := &r.Turns[i]; t.Scheduler == row.Scheduler && t.Case == row.Case {
			row.Unfit, row.Unbound = max(row.Unfit, t.Unfit), max(row.Unbound, t.Unbound)
		}
	}
	return row
}
