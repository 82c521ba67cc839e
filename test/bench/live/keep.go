// SPDX-License-Identifier: Apache-2.0

package live

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// earlier is what an earlier run measured: all of live.json if it shall be kept and there is one, else nothing. What was
// measured otherwise is an error. Scale may differ: each case says what it is of.
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
	if was.Rounds != s.Rounds || was.Concurrency != s.Concurrency || !slices.Equal(was.Schedulers, s.Schedulers) || !slices.Equal(was.SchedulerArgs, s.SchedulerArgs) {
		return nil, fmt.Errorf("%s in %s has %d rounds of %v, arguments %v, limits with %d requests at a time: ask for the same, or write to another folder",
			file, s.Folder, was.Rounds, was.Schedulers, was.SchedulerArgs, was.Concurrency)
	}
	return r, nil
}

// measured is a case's earlier result, or nil.
func (r *Report) measured(c *Case) *Case {
	at := slices.IndexFunc(r.Cases, func(was Case) bool {
		return was.Nodes == c.Nodes && was.Form == c.Form && was.Asked == c.Asked
	})
	if at < 0 {
		return nil
	}
	return &r.Cases[at]
}

// prompted is how soon a scheduler was seen to bind on a cluster of that size, or nil.
func (r *Report) prompted(nodes int, who string) *Prompt {
	at := slices.IndexFunc(r.Prompt, func(was Prompt) bool { return was.Nodes == nodes && was.Scheduler == who })
	if at < 0 {
		return nil
	}
	return &r.Prompt[at]
}
