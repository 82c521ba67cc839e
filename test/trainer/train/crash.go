// SPDX-License-Identifier: Apache-2.0

package train

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// ErrCrash is the failure that was asked for.
var ErrCrash = errors.New("crash")

// crash fails where the hook says so.
func (c *course) crash() error {
	o := &c.Options
	if o.CrashAtStep != c.state.Step || o.CrashRank >= 0 && o.CrashRank != c.Rank || o.CrashAttempt > 0 && o.CrashAttempt != c.attempt {
		return nil
	}
	return fmt.Errorf("%w before step %d in attempt %d, as asked for", ErrCrash, c.state.Step+1, c.attempt)
}

// countAttempt counts how often this trainer has begun, in a file beside its checkpoints: nothing else outlives its pod.
func (c *course) countAttempt() (int, error) {
	if c.Options.CrashAtStep < 0 {
		return 1, nil
	}
	path := filepath.Join(c.ModelDir(), fmt.Sprintf("attempts-%d", c.Rank))
	text, err := os.ReadFile(path) //nolint:gosec // the user's own folder
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return 0, err
	}
	before, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	return before + 1, writeFile(path, []byte(strconv.Itoa(before+1)+"\n"))
}
