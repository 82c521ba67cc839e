// SPDX-License-Identifier: Apache-2.0

package command

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/component-base/term"
	"sigs.k8s.io/yaml"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/cluster"
	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/story"
)

// What a terminal understands (ECMA-48).
const (
	home        = "\x1b[H"
	clearLine   = "\x1b[K"
	clearScreen = "\x1b[J"
)

// lineEvery is how often it is asked who waits in the queues.
const lineEvery = 10 * time.Second

// screen draws the jobs again whenever one changes, and once a second for the ages, until ctx is over.
func (s *session) screen(ctx context.Context, w *cluster.Watch, everywhere bool, ask func() (*story.Line, error)) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	changed, ended := make(chan struct{}, 1), make(chan error, 1)
	go func() {
		ended <- w.Run(ctx, func(cluster.Change) error {
			select {
			case changed <- struct{}{}:
			default: // it will be drawn anyway
			}
			return nil
		})
	}()
	ticks := time.NewTicker(tick)
	defer ticks.Stop()
	if err := s.say(home + clearScreen); err != nil {
		return err
	}
	var line *story.Line
	var asked time.Time
	for {
		select {
		case err := <-ended:
			return err
		case <-changed:
		case <-ticks.C:
		}
		trouble := w.Trouble()
		if time.Since(asked) > lineEvery {
			asked = time.Now()
			if now, err := ask(); err == nil {
				line = now
			} else if trouble == "" && ctx.Err() == nil {
				trouble = err.Error()
			}
		}
		width, height, err := term.TerminalSize(s.Out)
		if err != nil || width <= 0 || height <= 0 {
			width, height = paper, 24
		}
		jobs := w.Jobs()
		text := table(progressRows(jobs, line, everywhere, time.Now()))
		if err := s.say(framed(text, trouble, width, height)); err != nil {
			return err
		}
	}
}

// framed is text for a whole screen: lines that are cut where it ends, and how many are below. The last line stays empty.
func framed(text, trouble string, width, height int) string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if trouble != "" {
		lines = append([]string{"Not up to date: " + trouble}, lines...)
	}
	if most := max(height-1, 2); len(lines) > most {
		lines = append(lines[:most-1:most-1], fmt.Sprintf("... and %d more: kubectl paddle list", len(lines)-most+1))
	}
	var b strings.Builder
	b.WriteString(home)
	for _, line := range lines {
		if runes := []rune(line); len(runes) > width {
			line = string(runes[:width])
		}
		b.WriteString(line + clearLine + "\r\n")
	}
	b.WriteString(clearScreen)
	return b.String()
}

// progressRows are the table of jobs: those that have not ended first.
func progressRows(jobs []v1.PaddleJob, line *story.Line, everywhere bool, now time.Time) [][]string {
	jobs = slices.Clone(jobs)
	ended := func(job *v1.PaddleJob) int {
		if observed.Finished(job) {
			return 1
		}
		return 0
	}
	slices.SortFunc(jobs, func(a, b v1.PaddleJob) int {
		return cmp.Or(cmp.Compare(ended(&a), ended(&b)), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	rows := [][]string{{"NAME", "PHASE", "FOR", "READY", "RESTARTS", "QUEUE", "AHEAD IN QUEUE", "WHY"}}
	for i := range jobs {
		p := story.NewProgress(&jobs[i], now, narrow)
		rows = append(rows, []string{p.Name, string(p.Phase), p.For(now), p.Roles(), strconv.Itoa(int(p.Restarts)), p.Queue, line.Ahead(&jobs[i]), p.Why})
	}
	if everywhere {
		rows[0] = append([]string{"NAMESPACE"}, rows[0]...)
		for i := range jobs {
			rows[i+1] = append([]string{jobs[i].Namespace}, rows[i+1]...)
		}
	}
	return rows
}

// printChange prints one change of a job; kind is empty where the job is only told as it is.
func (s *session) printChange(output string, kind cluster.Kind, p *story.Progress) error {
	change := struct {
		Change cluster.Kind `json:"change,omitempty"`
		*story.Progress
	}{kind, p}
	text, err := json.Marshal(change)
	if err != nil {
		return err
	}
	if output == "yaml" {
		if text, err = yaml.JSONToYAML(text); err != nil {
			return err
		}
		return s.say("---\n" + string(text))
	}
	return s.say(string(text) + "\n")
}
