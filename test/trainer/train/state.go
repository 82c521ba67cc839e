// SPDX-License-Identifier: Apache-2.0

package train

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Files of a model's folder.
const (
	CheckpointFile = "checkpoint.json"
	ModelFile      = "model.json"
)

// State is what a checkpoint and the trained model hold: the parameters after Steps steps, and who trained them. JSON
// keeps each bit of a number.
type State struct {
	Steps  int
	Worlds []Segment
	Params []float64
}

// grow records the number of ranks that train from this step on.
func (s *State) grow(world int) {
	if n := len(s.Worlds); n == 0 || s.Worlds[n-1].World != world {
		s.Worlds = append(s.Worlds[:n:n], Segment{s.Steps, world})
	}
}

// load returns the state of the last checkpoint in a folder, or the first state.
func load(dir string) (State, error) {
	s := State{Params: make([]float64, size)}
	path := filepath.Join(dir, CheckpointFile)
	text, err := os.ReadFile(path) //nolint:gosec // the user's own folder
	if errors.Is(err, os.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return s, fmt.Errorf("%s is not a checkpoint: %w", path, err)
	}
	if Hash(s.Params) != Hash(Model(s.Worlds, s.Steps)) {
		return s, fmt.Errorf("%s is not what %v train in %d steps", path, s.Worlds, s.Steps)
	}
	return s, nil
}

// write replaces a file as a whole: a crash leaves the old one or the new one.
func write(dir, name string, value any) error {
	text, err := json.Marshal(value)
	if err == nil {
		err = os.MkdirAll(dir, 0o755) //nolint:gosec // models are for everybody to read
	}
	if err != nil {
		return err
	}
	temporary := filepath.Join(dir, "."+name)
	if err := os.WriteFile(temporary, append(text, '\n'), 0o644); err != nil { //nolint:gosec // models are for everybody to read
		return err
	}
	return os.Rename(temporary, filepath.Join(dir, name))
}
