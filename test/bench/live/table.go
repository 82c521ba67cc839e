// SPDX-License-Identifier: Apache-2.0

package live

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"

	"github.com/paddle-volcano/paddle-volcano/test/bench/live/placed"
	"github.com/paddle-volcano/paddle-volcano/test/bench/live/usage"
	"github.com/paddle-volcano/paddle-volcano/test/stats"
)

// table has a line for each scheduler in each case, and where its processor time went.
func (r *Report) table(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "CASE\tSCHEDULER\tBOUND/S\tLEAST..MOST\tBY STOCK\tBY LIMIT B\tAFTER READING\tCREATED/S\tRUNNING/S\tGANG WAIT P50\tP99")
	for i := range r.Cases {
		c := &r.Cases[i]
		for _, who := range Schedulers() {
			if _, ok := c.Spread[who]; !ok {
				continue
			}
			is := func(figure func(*Turn) float64) float64 { return stats.Median(c.of(who, figure)) }
			_, _ = fmt.Fprintf(w, "%s\t%s\t%.1f\t%.1f..%.1f\t%s\t%s\t%.1f\t%.1f\t%.1f\t%.2f\t%.2f\n", c, who, is(rate), c.Spread[who][0], c.Spread[who][1],
				ratio(is(rate), c.StockPods), ratio(is(rate), c.LimitBPods), is(after), is(created), is(running), is(wait50), is(wait99))
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for i := range r.Cases {
		if err := r.Cases[i].placements(out); err != nil {
			return err
		}
		if err := r.Cases[i].processes(out); err != nil {
			return err
		}
	}
	for i := range r.Prompt {
		t := &r.Prompt[i]
		if _, err := fmt.Fprintf(out, "%d nodes, %d pods pending, %s: a gang that fits is bound after %.2f s (p99 %.2f), that is %.2f sessions (p99 %.2f) of %.2f s, %d times\n",
			t.Nodes, t.Pending, t.Scheduler, t.Wait.P50, t.Wait.P99, t.Sessions.P50, t.Sessions.P99, t.Session, len(t.Waits)); err != nil {
			return err
		}
	}
	return nil
}

func ratio(is float64, to *float64) string {
	if to == nil || *to == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", is / *to)
}

// placements tells what each turn's placement costs, as a median.
func (c *Case) placements(out io.Writer) error {
	for _, who := range []string{Stock, Paddle, KubeScheduler} {
		if _, ok := c.Spread[who]; !ok || c.Gang < 2 {
			continue
		}
		is := func(figure func(*placed.Quality) float64) float64 {
			return stats.Median(c.of(who, func(t *Turn) float64 { return figure(&t.Placement) }))
		}
		if _, err := fmt.Fprintf(out, "%s, %s: a gang is on %.1f nodes in %.1f racks; a step sends %.1f sizes of its model across nodes, %.1f across racks, %.1f across blocks\n", c, who,
			is(func(q *placed.Quality) float64 { return q.Nodes }), is(func(q *placed.Quality) float64 { return q.Racks }),
			is(func(q *placed.Quality) float64 { return q.Node }), is(func(q *placed.Quality) float64 { return q.Rack }),
			is(func(q *placed.Quality) float64 { return q.Block })); err != nil {
			return err
		}
	}
	return nil
}

// leastShown are processor seconds below which a process is left out.
const leastShown = 0.1

// processes tells the processor seconds and the peak memory of each process, and the profiles.
func (c *Case) processes(out io.Writer) error {
	for _, who := range Schedulers() {
		if _, ok := c.Spread[who]; !ok {
			continue
		}
		names := map[string]bool{}
		for i := range c.Turns {
			for name := range c.Turns[i].Processes {
				names[name] = names[name] || c.Turns[i].Scheduler == who
			}
		}
		if _, err := fmt.Fprintf(out, "%s, %s: processor seconds (peak MiB):", c, who); err != nil {
			return err
		}
		for _, name := range slices.Sorted(maps.Keys(names)) {
			cpu := stats.Median(c.of(who, func(t *Turn) float64 { return t.Processes[name].CPU }))
			peak := stats.Median(c.of(who, func(t *Turn) float64 { return t.Processes[name].Peak }))
			switch {
			case !names[name] || cpu < leastShown:
			case name == usage.Others:
				_, _ = fmt.Fprintf(out, " %s %.1f", name, cpu)
			default:
				_, _ = fmt.Fprintf(out, " %s %.1f (%.0f)", name, cpu, peak)
			}
		}
		_, _ = fmt.Fprintln(out)
	}
	for _, who := range slices.SortedFunc(maps.Keys(c.Profiles), cmp.Compare) {
		for _, share := range c.Profiles[who] {
			if _, err := fmt.Fprintf(out, "profile  %s, %s: %-26s %6.1f s %5.1f %%\n", c, who, share.Owner, share.Seconds, share.Percent); err != nil {
				return err
			}
		}
	}
	return nil
}
