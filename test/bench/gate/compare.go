// SPDX-License-Identifier: Apache-2.0

package gate

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"text/tabwriter"

	"github.com/paddle-volcano/paddle-volcano/test/bench/result"
	"github.com/paddle-volcano/paddle-volcano/test/stats"
)

// Figure is one that is kept, of which less is better: the median of some runs, what each of them measured, and how much
// another run may be above or below, as a share of the median.
type Figure struct {
	Value     float64   `json:"value"`
	Tolerance float64   `json:"tolerance"`
	Runs      []float64 `json:"runs"`
}

// Kept is what figures.json holds.
type Kept struct {
	Commit  string            `json:"commit"`
	Machine result.Machine    `json:"machine"`
	Figures map[string]Figure `json:"figures"`
}

// Measured are the figures of one run.
type Measured map[string]Reading

// Reading is a measured figure, and the least tolerance that it is kept with.
type Reading struct{ Value, Least float64 }

// Result is what a comparison says of a figure.
type Result string

// Results. Missing figures are kept and were not measured, new ones the reverse.
const (
	Same    Result = "ok"
	Worse   Result = "WORSE"
	Better  Result = "better"
	Missing Result = "MISSING"
	New     Result = "NEW"
)

// Row is a figure and its result.
type Row struct {
	Name     string
	Kept     Figure
	Measured float64
	Result   Result
}

// Compare judges all figures that are kept or were measured, by name.
func Compare(kept map[string]Figure, measured Measured) []Row {
	var rows []Row
	for name, k := range kept {
		m, ok := measured[name]
		row := Row{Name: name, Kept: k, Measured: m.Value, Result: Same}
		switch {
		case !ok:
			row.Result = Missing
		case math.IsNaN(m.Value) || m.Value > k.Value*(1+k.Tolerance):
			row.Result = Worse
		case m.Value < k.Value*(1-k.Tolerance):
			row.Result = Better
		}
		rows = append(rows, row)
	}
	for name, m := range measured {
		if _, ok := kept[name]; !ok {
			rows = append(rows, Row{Name: name, Measured: m.Value, Result: New})
		}
	}
	slices.SortFunc(rows, func(a, b Row) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	return rows
}

// margin is how many times the greatest distance from the median that was measured a figure may be away from the median.
const margin = 2

// figuresOf makes figures of runs that measured the same.
func figuresOf(runs []Measured) (map[string]Figure, error) {
	figures := map[string]Figure{}
	for name, first := range runs[0] {
		f := Figure{}
		for i, run := range runs {
			if _, ok := run[name]; !ok || len(run) != len(runs[0]) {
				return nil, fmt.Errorf("keep figures: run %d measured others than run 1, which has %q; keep them again", i+1, name)
			}
			f.Runs = append(f.Runs, run[name].Value)
		}
		f.Value, f.Tolerance = stats.Median(f.Runs), first.Least
		if spread := max(slices.Max(f.Runs)-f.Value, f.Value-slices.Min(f.Runs)); f.Value > 0 {
			f.Tolerance = max(first.Least, math.Ceil(1000*margin*spread/f.Value)/1000)
		}
		figures[name] = f
	}
	return figures, nil
}

// show prints rows as a table, and how many rows have each result.
func show(rows []Row, out io.Writer) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "figure (less is better)\tkept\tmeasured\tchange\tallowed\tresult") // Flush returns its error
	counts := map[Result]int{}
	for _, r := range rows {
		change := "-"
		if r.Kept.Value != 0 && r.Result != Missing {
			change = fmt.Sprintf("%+.1f %%", 100*(r.Measured/r.Kept.Value-1))
		}
		_, _ = fmt.Fprintf(table, "%s\t%.5g\t%.5g\t%s\t±%.1f %%\t%s\n", r.Name, r.Kept.Value, r.Measured, change, 100*r.Kept.Tolerance, r.Result)
		counts[r.Result]++
	}
	for _, outcome := range slices.Sorted(maps.Keys(counts)) {
		_, _ = fmt.Fprintf(table, "%d %s\n", counts[outcome], outcome)
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("print the figures: %w", err)
	}
	return nil
}

// judge is an error if a figure is worse, missing or new.
func judge(rows []Row) error {
	var bad []string
	for _, r := range rows {
		if r.Result != Same && r.Result != Better {
			bad = append(bad, fmt.Sprintf("%s is %s", r.Name, r.Result))
		}
	}
	if len(bad) == 0 {
		return nil
	}
	return fmt.Errorf("%d of %d figures failed, first %s: fix what made it worse, or say in the commit why it is right and run %s", len(bad), len(rows), bad[0], keepCommand)
}
