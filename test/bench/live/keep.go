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
		return nil, fmt.Errorf("%s in %s has turns of %v, arguments %v, limits with %d requests at a time: ask for the same, or write to another folder",
			file, s.Folder, was.Schedulers, was.SchedulerArgs, was.Concurrency)
	}
	return r, nil
}

// measured says whether there is a result of a case.
func (r *Report) measured(c *Case) bool {
	return slices.ContainsFunc(r.Cases, func(was Case) bool {
		return was.Nodes == c.Nodes && was.Form == c.Form && was.Asked == c.Asked
	})
}

// prompted says whether it was seen how soon a scheduler binds on a cluster of that size.
func (r *Report) prompted(nodes int, who string) bool {
	return slices.ContainsFunc(r.Prompt, func(was Prompt) bool { return was.Nodes == nodes && was.Scheduler == who })
}
