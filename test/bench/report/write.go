// SPDX-License-Identifier: Apache-2.0

package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"

	"github.com/paddle-volcano/paddle-volcano/test/bars"
)

//go:embed page.html
var source string

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"number": number,
	"missed": bars.Missed,
	"sliced": bars.Sliced,
	"first":  func(n int) bool { return n == 0 },
}).Parse(source))

// HTML writes the page.
func (p *Page) HTML(out io.Writer) error {
	if err := page.Execute(out, p); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	return nil
}

// Make reads what is below a folder, writes report.html there, and says where.
func Make(folder string, out io.Writer) error {
	p, err := Read(folder)
	if err != nil {
		return err
	}
	path := filepath.Join(folder, "bench", "report.html")
	file, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	if err := p.HTML(file); err != nil {
		_ = file.Close()
		return err
	}
	if err := file.Close(); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	for _, s := range p.Sections {
		if err := bars.Show(s.Bars, out); err != nil {
			return fmt.Errorf("show the report: %w", err)
		}
	}
	_, err = fmt.Fprintf(out, "wrote %s: %d benchmarks, %d of %d bars missed, %d not judged\n", path, len(p.Sections), p.Missed(), p.Asked(), p.Sliced())
	return err
}

// number formats a value with three significant digits, and an SI prefix where it is large.
func number(v float64) string {
	abs, unit := math.Abs(v), ""
	for _, u := range []struct {
		from, scale float64
		letter      string
	}{{1e15, 1e15, "P"}, {1e12, 1e12, "T"}, {1e9, 1e9, "G"}, {1e6, 1e6, "M"}, {1e5, 1e3, "k"}} {
		if abs >= u.from {
			v, abs, unit = v/u.scale, abs/u.scale, u.letter
			break
		}
	}
	switch {
	case v == 0:
		return "0"
	case abs >= 1:
		return strconv.FormatFloat(v, 'f', max(0, 2-int(math.Log10(abs))), 64) + unit
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}
