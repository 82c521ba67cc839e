// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/paddle-volcano/paddle-volcano/test/bars"
	"github.com/paddle-volcano/paddle-volcano/test/bench/result"
	"github.com/paddle-volcano/paddle-volcano/test/stats"
)

// Page is everything that is shown.
type Page struct {
	// Sections are those whose benchmark has been run, Missing the names of the others' files.
	Sections []*Section
	Missing  []string
}

// Section is one benchmark.
type Section struct {
	// File that it is read from.
	File string
	// Title is what the benchmark answers, About how.
	Title, About string
	// Command repeats it.
	Command string
	Facts   []Fact
	Figures []Figure
	Bars    []bars.Bar
}

// Fact is one line about the machine or a setting.
type Fact struct{ Name, Value string }

// Figure is one number.
type Figure struct {
	Name string
	Unit string
	// Values are those of all rounds, or the only one.
	Values []float64
	// More is true where more is better.
	More bool
}

// Spread is the median of rounds, and the least and the greatest.
type Spread struct {
	Median, Least, Greatest float64
	Rounds                  int
}

// Spread returns the median of the values, the least and the greatest.
func (f *Figure) Spread() Spread {
	values := f.Values
	s := Spread{Median: stats.Median(values), Rounds: len(values)}
	for i, v := range values {
		if i == 0 || v < s.Least {
			s.Least = v
		}
		if i == 0 || v > s.Greatest {
			s.Greatest = v
		}
	}
	return s
}

// machine describes the machine that the figures are from.
func machine(m result.Machine) []Fact {
	facts := []Fact{{"Go", m.Go + " " + m.OS}, {"processors", fmt.Sprintf("%d × %s", m.CPUs, m.Processor)}}
	if m.Volcano != "" {
		facts = append(facts, Fact{"Volcano", m.Volcano})
	}
	return facts
}

func (s *Section) fact(name, format string, values ...any) {
	s.Facts = append(s.Facts, Fact{name, fmt.Sprintf(format, values...)})
}

// figure adds a figure, unless nothing was measured.
func (s *Section) figure(name, unit string, more bool, values ...float64) {
	values = slices.DeleteFunc(slices.Clone(values), func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
	if len(values) > 0 {
		s.Figures = append(s.Figures, Figure{Name: name, Unit: unit, Values: values, More: more})
	}
}

// halves adds what was measured first and what was measured later, to show growth.
func (s *Section) halves(name, unit string, values []float64) {
	middle := len(values) / 2
	s.figure(name+", first half", unit, false, values[:middle]...)
	s.figure(name+", second half", unit, false, values[middle:]...)
}

func (p *Page) bars() (all []bars.Bar) {
	for _, s := range p.Sections {
		all = append(all, s.Bars...)
	}
	return all
}

// Missed returns how many bars were, in all sections.
func (p *Page) Missed() int { return bars.Missed(p.bars()) }

// Asked returns how many bars were judged.
func (p *Page) Asked() int { return len(p.bars()) - p.Sliced() }

// Sliced returns how many bars were not judged.
func (p *Page) Sliced() int { return bars.Sliced(p.bars()) }

func joined[T any](list []T) string {
	words := make([]string, len(list))
	for i, v := range list {
		words[i] = fmt.Sprint(v)
	}
	return strings.Join(words, ", ")
}
