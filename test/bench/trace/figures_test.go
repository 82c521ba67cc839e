// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/test/stats"
)

// quotedFiles are the raw results from which README.md quotes, and quotedSeeds is how many seeds of them it quotes.
var quotedFiles = []string{"headline.json", "seeds-2-3.json", "rules-48-hosts.json"}

const quotedSeeds = 3

// quoted are the schedulers of which README.md quotes figures, in its order, with the words in front of the figures.
var quoted = []struct{ scheduler, english, chinese string }{
	{"paddle-bytes+gpu-binpack", "With the plugin and Volcano's binpack of GPUs", "使用本插件和 Volcano 对 GPU 的 binpack"},
	{"network-topology-aware-hard", "`network-topology-aware` in hard mode", "hard 模式的 `network-topology-aware`"},
	{"kai-topology-required", "KAI's placement rule", "KAI 的放置规则"},
	{"paddle-bytes", "Without binpack of GPUs", "没有 GPU 的 binpack"},
}

// figure is one measure of a run as documents write it.
type figure struct {
	of     func(*Run) float64
	format func(float64) string
}

var (
	slowdown  = figure{func(r *Run) float64 { return r.GangSlowdown }, twoDigits}
	wait      = figure{func(r *Run) float64 { return r.GangWaitMean }, whole}
	terabytes = figure{func(r *Run) float64 { return r.Crossing / 1e12 }, whole}

	// units are those of README.md in both languages.
	units = map[string]figure{"times": slowdown, "倍": slowdown, "s": wait, "秒": wait, "TB": terabytes}
	// columns are those of the tables in this folder's README.md.
	columns = map[string]figure{
		"slowdown of gangs, mean":          slowdown,
		"p95":                              {func(r *Run) float64 { return r.GangSlowdown95 }, twoDigits},
		"gang from arrival to end, mean s": {func(r *Run) float64 { return r.GangJCTMean }, whole},
		"gang waits, mean s":               wait,
		"GPUs computing":                   {func(r *Run) float64 { return 100 * r.GPUComputing }, func(f float64) string { return whole(f) + " %" }},
		"TB crossing":                      terabytes,
	}
)

func twoDigits(f float64) string { return fmt.Sprintf("%.2f", f) }

// whole has a comma before the last three digits.
func whole(f float64) string {
	digits := fmt.Sprintf("%.0f", f)
	if len(digits) > 3 {
		return digits[:len(digits)-3] + "," + digits[len(digits)-3:]
	}
	return digits
}

// all returns the figure of each run.
func (f figure) all(runs []*Run) (values []float64) {
	for _, r := range runs {
		values = append(values, f.of(r))
	}
	return values
}

// span returns the least and the largest figure, with the word between them.
func (f figure) span(runs []*Run, to string) string {
	values := f.all(runs)
	low, high := f.format(slices.Min(values)), f.format(slices.Max(values))
	if low == high {
		return low
	}
	return low + " " + to + " " + high
}

// cell returns the figure as the table's cell writes it: of each of the first seeds, or the median, alone or with the range.
func (f figure) cell(runs []*Run, cell string) string {
	if n := strings.Count(cell, ", ") + 1; n > 1 {
		var each []string
		for _, value := range f.all(runs)[:min(n, len(runs))] {
			each = append(each, f.format(value))
		}
		return strings.Join(each, ", ")
	}
	median := f.format(stats.Median(f.all(runs)))
	if strings.Contains(cell, "(") {
		return median + " (" + f.span(runs, "to") + ")"
	}
	return median
}

// kept returns the runs in files of the folder results by scheduler, in the order of seeds.
func kept(t *testing.T, files ...string) map[string][]*Run {
	t.Helper()
	by := map[string][]*Run{}
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join("results", file))
		require.NoError(t, err)
		var raw struct{ Runs []*Run }
		require.NoError(t, json.Unmarshal(text, &raw), file)
		for _, r := range raw.Runs {
			by[r.Scheduler] = append(by[r.Scheduler], r)
		}
	}
	for scheduler, runs := range by {
		slices.SortFunc(runs, func(a, b *Run) int { return int(a.Seed) - int(b.Seed) })
		for i, r := range runs {
			require.EqualValues(t, i+1, r.Seed, "seeds of %s in %v", scheduler, files)
		}
	}
	return by
}

// Each number with a unit after a scheduler's words, and before those of the next one, is that scheduler's.
func TestFiguresOfTheFirstPageAreThoseOfTheResults(t *testing.T) {
	runs := kept(t, quotedFiles...)
	var wrong []string
	for _, page := range []struct{ file, title, to string }{{"README.md", "**Measured:**", "to"}, {"README.zh.md", "**测量结果：**", "到"}} {
		text, err := os.ReadFile(filepath.Join("../../..", page.file))
		require.NoError(t, err)
		_, rest, found := strings.Cut(string(text), page.title)
		require.True(t, found, "%s has no paragraph %s", page.file, page.title)
		rest, _, _ = strings.Cut(rest, "\n\n")
		words := make([]string, len(quoted))
		for i, q := range quoted {
			words[i] = map[string]string{"to": q.english, "到": q.chinese}[page.to]
		}
		quotes := regexp.MustCompile(`(\d[\d.,]*(?: ` + page.to + ` \d[\d.,]*)?) (times|s|TB|倍|秒)(?:[^a-z]|$)`)
		for i, q := range quoted {
			_, rest, found = strings.Cut(rest, words[i])
			require.True(t, found, "%s does not say %q in the order of the table", page.file, words[i])
			segment := rest
			if i+1 < len(words) {
				segment, _, _ = strings.Cut(rest, words[i+1])
			}
			found := quotes.FindAllStringSubmatch(segment, -1)
			require.NotEmpty(t, found, "%s has no figure after %q", page.file, words[i])
			of := runs[q.scheduler]
			require.NotEmpty(t, of, "%v have no run of %s", quotedFiles, q.scheduler)
			for _, quote := range found {
				if want := units[quote[2]].span(of[:min(quotedSeeds, len(of))], page.to); quote[1] != want {
					wrong = append(wrong, fmt.Sprintf("%s: %s of %s: it says %s, and the results %s", page.file, quote[2], q.scheduler, quote[1], want))
				}
			}
		}
	}
	require.Empty(t, wrong, strings.Join(wrong, "\n"))
}

// The text above a table links to the files that the table is made of.
func TestFiguresOfTheTablesAreThoseOfTheResults(t *testing.T) {
	text, err := os.ReadFile("README.md")
	require.NoError(t, err)
	link := regexp.MustCompile(`\]\(results/([\w-]+\.json)\)`)
	tables := 0
	var files, head, wrong []string
	for _, line := range strings.Split(string(text), "\n") {
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		switch {
		case !strings.HasPrefix(line, "|"):
			if len(head) > 0 || strings.HasPrefix(line, "#") {
				files, head = nil, nil
			}
			for _, match := range link.FindAllStringSubmatch(line, -1) {
				files = append(files, match[1])
			}
		case len(files) == 0 || strings.HasPrefix(line, "|--"):
		case len(head) == 0:
			head = strings.Split(strings.Trim(line, "|"), "|")[1:]
			tables++
		default:
			scheduler, _, _ := strings.Cut(strings.ReplaceAll(cells[0], ":", ","), ",")
			runs := kept(t, files...)[scheduler]
			require.NotEmpty(t, runs, "%v have no run of %s", files, scheduler)
			require.Len(t, cells, len(head)+1, line)
			for i, name := range head {
				column, found := columns[strings.TrimSpace(name)]
				require.True(t, found, "%s: the column is not known", name)
				if want := column.cell(runs, cells[i+1]); cells[i+1] != want {
					wrong = append(wrong, fmt.Sprintf("%s of %s: it says %s, and %v have %s", strings.TrimSpace(name), scheduler, cells[i+1], files, want))
				}
			}
		}
	}
	require.Empty(t, wrong, strings.Join(wrong, "\n"))
	require.GreaterOrEqual(t, tables, 3, "tables whose text links to results")
}
