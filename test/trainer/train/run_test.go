// SPDX-License-Identifier: Apache-2.0

package train

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/test/trainer/model"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/options"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/process"
)

// alone is an exchange with nobody, whose numbers a test may spoil.
type alone struct {
	replica *model.Replica
	world   int
	// spoil may change what is handed out after so many steps.
	spoil func(step int, params []float64, loss *float64)
	fail  error
}

func (a *alone) Begin(_ context.Context, offered model.State) (model.State, error) {
	a.replica = &model.Replica{Settings: offered.Settings, Step: offered.Step, Params: slices.Clone(offered.Params), Loss: offered.Loss}
	return offered, nil
}

func (a *alone) Params(_ context.Context, step int) (params []float64, loss float64, err error) {
	params, loss = slices.Clone(a.replica.Params), a.replica.Loss
	if a.spoil != nil {
		a.spoil(step, params, &loss)
	}
	return params, loss, nil
}

func (a *alone) Contribute(_ context.Context, step int, _ []float64, _ []model.Click) error {
	if step == 5 && a.fail != nil {
		return a.fail
	}
	a.replica.Next(a.world)
	return nil
}

func (a *alone) End(context.Context) error {
	if a.replica.Step < 30 {
		return errors.New("nobody else is there")
	}
	return nil
}

// newProcess has 30 steps, and a checkpoint after each 10.
func newProcess(t *testing.T, dir string) (*process.Process, *bytes.Buffer) {
	t.Helper()
	var out bytes.Buffer
	o, err := options.Parse([]string{"--steps", "30", "--model-dir", "here"}, nil, &out)
	require.NoError(t, err)
	return &process.Process{Options: o, Dir: dir, Out: &out}, &out
}

func TestRunFindsWrongNumbers(t *testing.T) {
	for name, test := range map[string]struct {
		member   Member
		exchange alone
		change   func(*options.Options)
		want     string
	}{
		"a parameter":      {Member{0, 1}, alone{world: 1, spoil: func(step int, params []float64, _ *float64) { params[7] += float64(step / 12) }}, nil, "wrong sum: after 12 steps parameter 7 is"},
		"the loss":         {Member{0, 1}, alone{world: 1, spoil: func(step int, _ []float64, loss *float64) { *loss += float64(step / 12) }}, nil, "wrong sum: the loss of step 12 is"},
		"a rank too many":  {Member{0, 1}, alone{world: 2}, nil, "wrong sum: after 1 steps parameter"},
		"a rank too few":   {Member{0, 3}, alone{world: 2}, nil, "wrong sum: after 1 steps parameter"},
		"a peer that goes": {Member{0, 1}, alone{world: 1, fail: errors.New("gone")}, nil, "step 6: gone"},
		"its rank":         {Member{2, 2}, alone{world: 2}, nil, "wrong rank: 2 of 2 trainers"},
		"below 0":          {Member{-1, 2}, alone{world: 2}, nil, "wrong rank: -1 of 2 trainers"},
		"the world":        {Member{0, 2}, alone{world: 2}, func(o *options.Options) { o.ExpectWorld = 3 }, "wrong world size: 2 trainers, and 3 are expected"},
		"the end":          {Member{0, 1}, alone{world: 1}, func(o *options.Options) { o.Steps = 20 }, "after the last step: nobody else is there"},
		"the crash":        {Member{1, 2}, alone{world: 2}, func(o *options.Options) { o.CrashAtStep, o.CrashRank = 3, -1 }, "crash before step 4 in attempt 1"},
	} {
		p, _ := newProcess(t, t.TempDir())
		if test.change != nil {
			test.change(&p.Options)
		}
		require.ErrorContains(t, Run(t.Context(), p, test.member, &test.exchange), test.want, name)
	}
}

// A model that learns nothing is no success, however right its sums are.
func TestRunWantsTheLossToFall(t *testing.T) {
	p, _ := newProcess(t, t.TempDir())
	p.Options.CheckpointEvery = 0
	state := model.NewState(p.Settings())
	require.NoError(t, Save(p.ModelDir(), state))
	c := &course{Process: p, Member: Member{0, 1}, exchange: &alone{world: 1}}
	require.NoError(t, c.begin(t.Context()))
	require.ErrorContains(t, c.end(t.Context()), "the loss has not fallen")
}

func TestRunResumes(t *testing.T) {
	dir := t.TempDir()
	p, _ := newProcess(t, dir)
	require.ErrorContains(t, Run(t.Context(), p, Member{0, 2}, &alone{world: 2, spoil: func(step int, params []float64, _ *float64) {
		params[0] += float64(step / 25)
	}}), "after 25 steps")
	p, out := newProcess(t, dir)
	require.NoError(t, Run(t.Context(), p, Member{0, 3}, &alone{world: 3}))
	require.Contains(t, out.String(), "resumed from step 20\n")
	require.NotContains(t, out.String(), "step 10 ")
	replica := model.NewReplica(p.Settings())
	for range 20 {
		replica.Next(2)
	}
	for range 10 {
		replica.Next(3)
	}
	require.Contains(t, out.String(), "model sha256 "+model.Hash(replica.Params))

	// Only rank 0 writes.
	p, _ = newProcess(t, t.TempDir())
	require.NoError(t, Run(t.Context(), p, Member{1, 2}, &alone{world: 2}))
	_, err := os.Stat(p.ModelDir())
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestCheckpointsAreWhole(t *testing.T) {
	dir := t.TempDir()
	settings := model.Settings{Seed: 2, Batch: 3}
	state := model.NewState(settings)
	state.Grow(4)
	replica := model.NewReplica(settings)
	replica.Next(4)
	state.Step, state.Params, state.Loss = 1, replica.Params, replica.Loss
	require.NoError(t, Save(dir, state))
	loaded, err := Load(dir, settings)
	require.NoError(t, err)
	require.Equal(t, state, loaded, "every bit of it")
	found, err := filepath.Glob(filepath.Join(dir, "*"))
	require.NoError(t, err)
	require.Len(t, found, 1, "nothing temporary is left")
	require.Error(t, Save("/dev/null/models", state))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "full"), 0o700))
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "full", CheckpointFile, "x"), 0o700))
	require.Error(t, Save(filepath.Join(dir, "full"), state), "the old one stays where the new one cannot be put")
	_, err = Load(filepath.Join(dir, "full"), settings)
	require.Error(t, err, "what cannot be read is not taken for nothing")
}
