// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"
)

// playAll cases. Runs come in the order of the cases, whichever was done first.
func (s *Settings) playAll(ctx context.Context, progress io.Writer) (runs []Run, longest time.Duration, err error) {
	cases := s.cases()
	runs = make([]Run, len(cases))
	kept := map[Case]Run{}
	if s.Keep {
		if kept, err = s.keep(); err != nil {
			return nil, 0, fmt.Errorf("keep earlier runs: %w", err)
		}
	}
	one, workers := s.elsewhere, max(1, s.Workers)
	if len(s.Command) == 0 {
		one, workers = s.here, 1
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	next := make(chan int)
	var wait sync.WaitGroup
	var mu sync.Mutex
	done := 0
	for range workers {
		wait.Add(1)
		go func() {
			defer wait.Done()
			for i := range next {
				begin := time.Now()
				run, err := one(ctx, cases[i])
				took := time.Since(begin)
				mu.Lock()
				if err == nil {
					runs[i] = *run
					done++
					longest = max(longest, took)
					_, err = fmt.Fprintf(progress, "trace: %d of %d, %s: gangs %.0f s, %s\n",
						done, len(cases), cases[i], run.GangJCTMean, took.Round(time.Second))
				}
				mu.Unlock()
				if err != nil {
					stop(err)
				}
			}
		}()
	}
	for i := range cases {
		if run, ok := kept[cases[i]]; ok {
			runs[i] = run
			continue
		}
		select {
		case next <- i:
			continue
		case <-ctx.Done():
		}
		break
	}
	close(next)
	wait.Wait()
	return runs, longest, context.Cause(ctx)
}

func (s *Settings) here(_ context.Context, c Case) (*Run, error) { return s.play(c) }

// elsewhere plays a case in a process of its own: Volcano keeps state in variables of its packages, so two runs at a time
// need two processes, and no run can depend on the ones before it.
func (s *Settings) elsewhere(ctx context.Context, c Case) (*Run, error) {
	text, err := json.Marshal(order{Settings: *s, Case: c})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c, err)
	}
	var out, problems bytes.Buffer
	child := exec.CommandContext(ctx, s.Command[0], s.Command[1:]...) //nolint:gosec // the command is this program's own
	child.Env = append(os.Environ(), "GOGC=400")                      // most of a session is garbage
	child.Stdin, child.Stdout, child.Stderr = bytes.NewReader(text), &out, &problems
	if err := child.Run(); err != nil {
		return nil, fmt.Errorf("%s: %w: %s", c, err, bytes.TrimSpace(problems.Bytes()))
	}
	var run Run
	if err := json.Unmarshal(out.Bytes(), &run); err != nil {
		return nil, fmt.Errorf("%s: read the run: %w", c, err)
	}
	return &run, nil
}
