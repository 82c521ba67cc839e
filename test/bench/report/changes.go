// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"math"

	mann "github.com/aclements/go-moremath/stats"

	"github.com/paddle-volcano/paddle-volcano/test/stats"
)

// Change is a figure now and in an earlier report.
type Change struct {
	Section, Name, Unit string
	Before, Now         Spread
	// Percent is how much the median has changed, NaN where it was 0.
	Percent float64
	// Verdict is better, worse, or why neither can be said.
	Verdict string
}

// Spread is the median of rounds, and the least and the greatest.
type Spread struct {
	Median, Least, Greatest float64
	Rounds                  int
}

func spread(values []float64) Spread {
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

// Compare tells what has changed since an earlier report: of figures that both have.
func (p *Page) Compare(earlier *Page, where string) {
	p.Against, p.Changes = where, nil
	before := map[string]*Figure{}
	for _, s := range earlier.Sections {
		for i := range s.Figures {
			before[s.File+"\x00"+s.Figures[i].Name] = &s.Figures[i]
		}
	}
	for _, s := range p.Sections {
		for i := range s.Figures {
			now := &s.Figures[i]
			was := before[s.File+"\x00"+now.Name]
			if was == nil || len(was.Values) == 0 || len(now.Values) == 0 {
				continue
			}
			p.Changes = append(p.Changes, change(s.File, was, now))
		}
	}
}

func change(section string, was, now *Figure) Change {
	c := Change{Section: section, Name: now.Name, Unit: now.Unit, Before: spread(was.Values), Now: spread(now.Values)}
	c.Percent = 100 * (c.Now.Median/c.Before.Median - 1)
	if c.Before.Median == 0 {
		c.Percent = math.NaN()
	}
	c.Verdict = verdict(was, now, &c)
	return c
}

// alpha is how probable a difference may be by chance, as benchstat has it.
const alpha = 0.05

// verdict needs rounds: as benchstat does it, by the U test of Mann and Whitney.
func verdict(was, now *Figure, c *Change) string {
	if c.Before == c.Now {
		return "same"
	}
	if len(was.Values) == 1 && len(now.Values) == 1 {
		return "one round each"
	}
	compared, err := mann.MannWhitneyUTest(was.Values, now.Values, mann.LocationDiffers)
	if err != nil {
		return "same" // all values are equal
	}
	switch {
	case compared.P > alpha:
		return fmt.Sprintf("no difference (p=%.2f)", compared.P)
	case (c.Now.Median > c.Before.Median) == now.More:
		return fmt.Sprintf("better (p=%.2f)", compared.P)
	}
	return fmt.Sprintf("worse (p=%.2f)", compared.P)
}
