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
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/paddle-volcano/paddle-volcano/test/bench/result"
)

// playAll cases. Whenever a run is done, all that there are by then are saved, in the order of the cases, whichever was done
// first. Longest is the processor time of the longest one.
func (s *Settings) playAll(ctx context.Context, progress io.Writer, save func([]Run) error) (longest time.Duration, err error) {
	cases := s.cases()
	found, err := s.kept()
	if err != nil {
		return 0, fmt.Errorf("keep earlier runs: %w", err)
	}
	done := func() (runs []Run) {
		for _, c := range cases {
			if run, ok := found[c]; ok {
				runs = append(runs, run)
			}
		}
		return runs
	}
	missing := slices.DeleteFunc(slices.Clone(cases), func(c Case) bool { _, ok := found[c]; return ok })
	result.Say(progress, "trace: %d runs, %d of them are there", len(cases), len(cases)-len(missing))
	one, workers := s.elsewhere, max(1, s.Workers)
	if len(s.Command) == 0 {
		one, workers = s.here, 1
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(workers)
	var mu sync.Mutex
	for _, c := range missing {
		group.Go(func() error {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			begin := time.Now()
			run, cpu, err := one(ctx, c)
			if err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			found[c] = *run
			longest = max(longest, cpu)
			runs := done()
			result.Say(progress, "trace: %s: %d of %d, %s: gangs %.0f s, %.0f TB; took %s, %s of processor time",
				time.Now().UTC().Format(time.TimeOnly), len(runs), len(cases), c, run.GangJCTMean, run.Crossing/terabyte,
				time.Since(begin).Round(time.Second), cpu.Round(time.Second))
			return save(runs)
		})
	}
	if err := group.Wait(); err != nil || len(missing) > 0 {
		return longest, err
	}
	return 0, save(done())
}

func (s *Settings) here(_ context.Context, c Case) (*Run, time.Duration, error) {
	begin := time.Now()
	run, err := s.play(c)
	return run, time.Since(begin), err // whatever else this process does is not much
}

// elsewhere plays a case in a process of its own: Volcano keeps state in variables of its packages, so two runs at a time
// need two processes, and no run can depend on the ones before it.
func (s *Settings) elsewhere(ctx context.Context, c Case) (*Run, time.Duration, error) {
	text, err := json.Marshal(order{Settings: *s, Case: c})
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %w", c, err)
	}
	var out, problems bytes.Buffer
	child := exec.CommandContext(ctx, s.Command[0], s.Command[1:]...) //nolint:gosec // the command is this program's own
	child.Env = append(os.Environ(), "GOGC=400")                      // most of a session is garbage
	child.Stdin, child.Stdout, child.Stderr = bytes.NewReader(text), &out, &problems
	if err := child.Run(); err != nil {
		return nil, 0, fmt.Errorf("%s: %w: %s", c, err, bytes.TrimSpace(problems.Bytes()))
	}
	var run Run
	if err := json.Unmarshal(out.Bytes(), &run); err != nil {
		return nil, 0, fmt.Errorf("%s: read the run: %w", c, err)
	}
	return &run, child.ProcessState.UserTime() + child.ProcessState.SystemTime(), nil
}
