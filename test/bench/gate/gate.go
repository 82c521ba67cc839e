// SPDX-License-Identifier: Apache-2.0

// Package gate is `make bench-gate`: it runs a slice of each benchmark whose figures are stable, and compares them with those
// that figures.json keeps. It measures nothing itself.
package gate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/paddle-volcano/paddle-volcano/test/bench/result"
)

// keepCommand measures figures that are kept from then on.
const keepCommand = "make bench-gate KEEP=1"

// Settings of a run.
type Settings struct {
	// Only these Parts.
	Only []string
	// Keep is the number of runs whose figures are kept; 0 compares one run with those that are kept.
	Keep int
	// File keeps the figures; the benchmarks write to Folder.
	File, Folder string
}

// Default compares all.
func Default() Settings {
	return Settings{Only: Parts(), File: "test/bench/gate/figures.json", Folder: "_output/gate"}
}

// Run measures, and compares or keeps. A figure that is worse than kept, missing or new is an error.
func Run(ctx context.Context, s Settings, out, progress io.Writer) error {
	if s.Keep > 0 {
		return s.keep(ctx, progress)
	}
	kept, err := s.read()
	if err != nil {
		return err
	}
	measured, err := measure(ctx, s.Only, s.Folder, progress)
	if err != nil {
		return err
	}
	if err := result.Write(s.Folder, "gate.json", measured); err != nil {
		return err
	}
	here := result.ThisMachine()
	result.Say(out, "kept: %s, %d processors, %s\nhere: %s, %d processors", kept.Machine.Processor, kept.Machine.CPUs, kept.Commit, here.Processor, here.CPUs)
	rows := Compare(kept.Figures, measured)
	if err := show(rows, out); err != nil {
		return err
	}
	if slices.ContainsFunc(rows, func(r Row) bool { return r.Result == Better }) {
		result.Say(out, "Some figures are better than what is kept: %s keeps them", keepCommand)
	}
	return judge(rows)
}

// read returns what is kept.
func (s *Settings) read() (*Kept, error) {
	k := &Kept{}
	text, err := os.ReadFile(s.File)
	if err == nil {
		err = json.Unmarshal(text, k)
	}
	if err != nil {
		return nil, fmt.Errorf("read the figures that are kept: %w; %s measures them", err, keepCommand)
	}
	maps.DeleteFunc(k.Figures, func(name string, _ Figure) bool {
		part, _, _ := strings.Cut(name, ": ")
		return !slices.Contains(s.Only, part)
	})
	return k, nil
}

// keep writes down the figures of Keep runs.
func (s *Settings) keep(ctx context.Context, progress io.Writer) error {
	if !slices.Equal(s.Only, Parts()) {
		return errors.New("figures of some parts cannot be kept alone: all are of one commit; leave out --only")
	}
	at, err := commit(ctx)
	if err != nil {
		return err
	}
	var runs []Measured
	for i := range s.Keep {
		result.Say(progress, "run %d of %d", i+1, s.Keep)
		run, err := measure(ctx, s.Only, s.Folder, progress)
		if err != nil {
			return err
		}
		runs = append(runs, run)
	}
	figures, err := figuresOf(runs)
	if err != nil {
		return err
	}
	return result.Write(filepath.Dir(s.File), filepath.Base(s.File), Kept{Commit: at, Machine: result.ThisMachine(), Figures: figures})
}

// commit is that of the worktree, with "-dirty" where files have changed since.
func commit(ctx context.Context) (string, error) {
	text, err := exec.CommandContext(ctx, "git", "describe", "--always", "--dirty", "--exclude=*", "--abbrev=40").Output()
	if err != nil {
		return "", fmt.Errorf("ask git which commit is measured: %w", err)
	}
	return strings.TrimSpace(string(text)), nil
}
