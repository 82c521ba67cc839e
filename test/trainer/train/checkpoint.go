// SPDX-License-Identifier: Apache-2.0

package train

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/paddle-volcano/paddle-volcano/test/trainer/model"
)

// Files of a model's folder.
const (
	CheckpointFile = "checkpoint.json"
	ModelFile      = "model.json"
)

// Load returns the state of the last checkpoint in a folder, or the first state where there is none. JSON keeps each bit
// of a number.
func Load(dir string, settings model.Settings) (model.State, error) {
	state := model.NewState(settings)
	path := filepath.Join(dir, CheckpointFile)
	text, err := os.ReadFile(path) //nolint:gosec // the user's own folder
	if errors.Is(err, os.ErrNotExist) {
		return state, nil
	}
	if err != nil {
		return state, err
	}
	var saved model.State
	if err := json.Unmarshal(text, &saved); err != nil {
		return state, fmt.Errorf("%s is not a checkpoint: %w", path, err)
	}
	if saved.Settings != settings {
		return state, fmt.Errorf("%s is of another training: %+v, not %+v", path, saved.Settings, settings)
	}
	return saved, nil
}

// Save writes a checkpoint in place of the last.
func Save(dir string, state model.State) error {
	text, err := json.Marshal(state)
	if err != nil {
		return err
	}
	return writeFile(filepath.Join(dir, CheckpointFile), text)
}

// Model is what ModelFile holds.
type Model struct {
	Steps  int             `json:"steps"`
	Worlds []model.Segment `json:"worlds"`
	SHA256 string          `json:"sha256"`
	Params []float64       `json:"params"`
}

func writeModel(dir string, state model.State) error {
	text, err := json.Marshal(Model{Steps: state.Step, Worlds: state.Worlds, SHA256: model.Hash(state.Params), Params: state.Params})
	if err != nil {
		return err
	}
	return writeFile(filepath.Join(dir, ModelFile), text)
}

// writeFile replaces a file as a whole: a crash leaves the old one or the new one.
func writeFile(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // models are for everybody to read
		return err
	}
	temporary, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = temporary.Write(text)
	if err = errors.Join(err, temporary.Chmod(0o644), temporary.Sync(), temporary.Close()); err == nil {
		err = os.Rename(temporary.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temporary.Name()))
	}
	return nil
}
