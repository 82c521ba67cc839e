// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/paddle-volcano/paddle-volcano/test/bench/result"
)

// Run measures, and writes live.json as cases finish. A bar that is missed is no error.
func Run(ctx context.Context, s Settings, progress io.Writer) error {
	if err := s.check(); err != nil {
		return err
	}
	cases, err := s.cases()
	if err != nil {
		return err
	}
	earlier, err := s.earlier()
	if err != nil {
		return err
	}
	r := newReport(s)
	for i := range earlier.Cases {
		result.Say(progress, "%s: kept", &earlier.Cases[i])
		r.add(earlier.Cases[i])
	}
	for i := range earlier.Prompt {
		r.addPrompt(earlier.Prompt[i])
	}
	r.Churn = earlier.Churn
	if s.Churn > 0 {
		return s.churns(ctx, r, progress)
	}
	result.Say(progress, "%d cases at scale %g; gangs take at most four fifths of a cluster", len(cases), s.Scale)
	for len(cases) > 0 {
		n := 0
		for n < len(cases) && cases[n].Nodes == cases[0].Nodes {
			n++
		}
		if err := s.measure(ctx, cases[:n], earlier, r, progress); err != nil {
			return err
		}
		cases = cases[n:]
	}
	return nil
}

// measure takes all cases of one cluster that were not measured earlier.
func (s *Settings) measure(ctx context.Context, cases []Case, earlier, r *Report, progress io.Writer) error {
	nodes := cases[0].Nodes
	var todo []Case
	for i := range cases {
		if !earlier.measured(&cases[i]) {
			todo = append(todo, cases[i])
		}
	}
	var prompts []string
	for _, who := range s.prompted() {
		if !earlier.prompted(nodes, who) {
			prompts = append(prompts, who)
		}
	}
	if err := r.write(); err != nil || len(todo)+len(prompts) == 0 {
		return err
	}
	return s.on(ctx, nodes, progress, func(p *player) error {
		for i := range todo {
			c := &todo[i]
			if err := s.rounds(ctx, p, c); err != nil {
				return err
			}
			r.add(*c)
			if err := r.write(); err != nil {
				return err
			}
		}
		for _, who := range prompts {
			result, err := p.prompt(ctx, nodes, who, s.Takeovers)
			if err != nil {
				return fmt.Errorf("a place changes hands on %d nodes, %s: %w", nodes, who, err)
			}
			r.addPrompt(result)
			if err := r.write(); err != nil {
				return err
			}
		}
		return nil
	})
}

// on starts a sandbox for turns, and stops it after them. Its logs stay if there was an error.
func (s *Settings) on(ctx context.Context, nodes int, progress io.Writer, turns func(*player) error) error {
	at, err := s.start(ctx, nodes, progress)
	if err != nil {
		return err
	}
	if err = turns(&player{site: at, concurrency: s.Concurrency}); err != nil {
		err = fmt.Errorf("%w; logs are in %s", err, filepath.Join(at.StateDir(), "logs"))
	}
	return errors.Join(err, at.Close(err != nil))
}

// prompted returns the schedulers that have a place change hands: those that know gangs.
func (s *Settings) prompted() []string {
	return slices.DeleteFunc([]string{Stock, Paddle}, func(who string) bool {
		return s.Takeovers == 0 || !slices.Contains(s.Schedulers, who)
	})
}

// rounds takes every turn of a case.
func (s *Settings) rounds(ctx context.Context, p *player, c *Case) error {
	for round := range s.Rounds {
		for _, who := range order(s.Schedulers, c.Form, round) {
			turn, err := p.take(ctx, *c, who)
			if err != nil {
				return err
			}
			turn.Round = round
			result.Say(p.progress, "%s: round %d: %s bound %.1f pods/s (%.1f s, %.1f of it reading)", c, round+1, who, turn.Bound, turn.Seconds, turn.Read)
			c.Turns = append(c.Turns, turn)
		}
	}
	return nil
}

// earlier returns what an earlier run measured: all of live.json if it shall be kept and there is one, else nothing. What was
// measured otherwise is an error. Scale and rounds may differ: each case says what it is of, and has its turns.
func (s *Settings) earlier() (*Report, error) {
	r := &Report{}
	if !s.Keep {
		return r, nil
	}
	text, err := os.ReadFile(filepath.Join(s.Folder, file))
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err == nil {
		err = json.Unmarshal(text, r)
	}
	if err != nil {
		return nil, fmt.Errorf("keep what was measured earlier: %w", err)
	}
	was := r.Settings
	if was.Concurrency != s.Concurrency || !slices.Equal(was.Schedulers, s.Schedulers) || !slices.Equal(was.SchedulerArgs, s.SchedulerArgs) {
		return nil, fmt.Errorf("%s in %s has turns of %v, arguments %v, a limit with %d requests at a time: ask for the same, or write to another folder",
			file, s.Folder, was.Schedulers, was.SchedulerArgs, was.Concurrency)
	}
	return r, nil
}

// measured reports whether there is a result of a case.
func (r *Report) measured(c *Case) bool {
	return slices.ContainsFunc(r.Cases, func(was Case) bool {
		return was.Nodes == c.Nodes && was.Form == c.Form && was.Asked == c.Asked
	})
}

// prompted reports whether it was seen how soon a scheduler binds on a cluster of that size.
func (r *Report) prompted(nodes int, who string) bool {
	return slices.ContainsFunc(r.Prompt, func(was Prompt) bool { return was.Nodes == nodes && was.Scheduler == who })
}
