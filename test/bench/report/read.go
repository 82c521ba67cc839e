// SPDX-License-Identifier: Apache-2.0

package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"text/tabwriter"

	"github.com/paddle-volcano/paddle-volcano/test/bars"
)

// sources are the files that are read, in the order in which they are shown.
var sources = []struct {
	file string
	read func([]byte) (*Section, error)
}{
	{"bench/live.json", reader(lived)},
	{"bench/kind/live.json", reader(onKind)},
	{"bench/peers.json", reader(compared)},
	{"bench/peers-1.37.json", reader(compared)},
	{"bench/trace.json", reader(traced)},
	{"bench/session.json", reader(inSessions)},
	{"bench/placement.json", reader(placement)},
	{"bench/controller.json", reader(controller)},
	{"soak/report.json", reader(soaked)},
}

// reader reads one kind of report.
func reader[T any](show func(*T) *Section) func([]byte) (*Section, error) {
	return func(text []byte) (*Section, error) {
		r := new(T)
		if err := json.Unmarshal(text, r); err != nil {
			return nil, err
		}
		return show(r), nil
	}
}

// Read gathers what the benchmarks wrote below a folder (_output). A benchmark that was not run is missing, which is no error;
// that none was is.
func Read(folder string) (*Page, error) {
	p := &Page{}
	for _, source := range sources {
		path := filepath.Join(folder, source.file)
		text, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			p.Missing = append(p.Missing, source.file)
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read a benchmark's report: %w", err)
		}
		section, err := source.read(text)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w; run its benchmark again", path, err)
		}
		section.File = source.file
		p.Sections = append(p.Sections, section)
	}
	if len(p.Sections) == 0 {
		return nil, fmt.Errorf("no report of a benchmark in %s: run make bench first", folder)
	}
	return p, nil
}

// Show prints the figures and the bars of one benchmark, from the file that it wrote.
func Show(path string, out io.Writer) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read a benchmark's report: %w", err)
	}
	for _, source := range sources {
		if filepath.Base(source.file) != filepath.Base(path) {
			continue
		}
		section, err := source.read(text)
		if err != nil {
			return fmt.Errorf("read %s: %w; run its benchmark again", path, err)
		}
		table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		for i := range section.Figures {
			f := &section.Figures[i]
			of := f.Spread()
			_, _ = fmt.Fprintf(table, "%s\t%s\t%s…%s\t%s\n", f.Name, number(of.Median), number(of.Least), number(of.Greatest), f.Unit)
		}
		if err := table.Flush(); err != nil {
			return fmt.Errorf("print the figures of %s: %w", path, err)
		}
		if err := bars.Show(section.Bars, out); err != nil {
			return fmt.Errorf("print the bars of %s: %w", path, err)
		}
		_, err = fmt.Fprintf(out, "wrote %s\n", path)
		return err
	}
	return fmt.Errorf("%s is no report of a benchmark", path)
}
