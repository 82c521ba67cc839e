// SPDX-License-Identifier: Apache-2.0

package live

import (
	"fmt"
	"io"
	"os"
)

// Cases are what these settings ask for. Where the sandbox is not the cluster they are measured by somebody else (test/kind).
func (s Settings) Cases() ([]Case, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	return s.cases()
}

// Tell sums up cases with the turns that somebody else took, writes live.json, and tells what Run tells of its own.
func Tell(s Settings, cases []Case, out io.Writer) error {
	if err := os.MkdirAll(s.Folder, 0o755); err != nil { //nolint:gosec // results are for everybody to read
		return fmt.Errorf("make the folder of the report: %w", err)
	}
	r := newReport(s)
	for _, c := range cases {
		c.sum()
		r.add(c)
	}
	if err := r.write(); err != nil {
		return err
	}
	return r.show(out)
}
