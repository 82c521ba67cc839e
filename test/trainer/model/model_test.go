// SPDX-License-Identifier: Apache-2.0

package model

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

var settings = Settings{Seed: 7, Batch: 32}

func TestTheLossFalls(t *testing.T) {
	for seed := range uint64(3) {
		for _, world := range []int{1, 3} {
			replica := NewReplica(Settings{Seed: seed, Batch: 32})
			before := Loss(seed, replica.Params)
			for range 60 {
				replica.Next(world)
			}
			after := Loss(seed, replica.Params)
			t.Logf("seed %d, %d ranks: %.4f -> %.4f", seed, world, before, after)
			require.Less(t, after, before-0.05)
		}
	}
}

// Each number that training rests on matters to its result.
func TestWhatTheResultDependsOn(t *testing.T) {
	train := func(settings Settings, worlds ...int) string {
		replica := NewReplica(settings)
		for _, world := range worlds {
			replica.Next(world)
		}
		return Hash(replica.Params)
	}
	want := train(settings, 2, 2, 3)
	require.Equal(t, want, train(settings, 2, 2, 3))
	for name, other := range map[string]string{
		"seed": train(Settings{Seed: 8, Batch: 32}, 2, 2, 3), "batch": train(Settings{Seed: 7, Batch: 31}, 2, 2, 3),
		"steps": train(settings, 2, 2), "ranks": train(settings, 2, 3, 3), "no training": Hash(Init(7)),
	} {
		require.NotEqual(t, want, other, name)
	}
}

// The gradient is that of the loss: a small step along each parameter changes the loss as it says.
func TestGradient(t *testing.T) {
	clicks := Clicks(7, 3, 1, 64)
	params := Init(7)
	for i := range params {
		params[i] += 0.1 // away from where units are off
	}
	flat := Compute(params, clicks).Flat()
	const h = 1e-6
	for i := range params {
		moved := slices.Clone(params)
		moved[i] += h
		up := Compute(moved, clicks).Loss
		moved[i] -= 2 * h
		down := Compute(moved, clicks).Loss
		require.InDelta(t, float64(up-down)*unit/(2*h), float64(flat[i])*unit, 1e-4, "parameter %d", i)
	}
}

func TestPartsAndShardsAreWhole(t *testing.T) {
	_, end := Front.Range()
	begin, size := Middle.Range()
	require.Equal(t, []int{end, Size}, []int{begin, size})
	for servers := 1; servers < 9; servers++ {
		at := 0
		for index := range servers {
			low, high := Shard(index, servers)
			require.Equal(t, at, low)
			at = high
		}
		require.Equal(t, Size, at)
	}
}

func TestReplay(t *testing.T) {
	state := NewState(settings)
	_, err := state.Replay()
	require.NoError(t, err)
	replica := NewReplica(settings)
	for _, world := range []int{2, 2, 3, 1, 1} {
		state.Step = replica.Step
		state.Grow(world)
		replica.Next(world)
	}
	state.Step, state.Params, state.Loss = replica.Step, replica.Params, replica.Loss
	require.Equal(t, []Segment{{0, 2}, {2, 3}, {3, 1}}, state.Worlds)
	again, err := state.Replay()
	require.NoError(t, err)
	require.Equal(t, replica, again)

	for name, test := range map[string]struct {
		spoil func(*State)
		want  string
	}{
		"a parameter":     {func(s *State) { s.Params = slices.Clone(s.Params); s.Params[17]++ }, "wrong sum: after 5 steps parameter 17 is"},
		"the loss":        {func(s *State) { s.Loss++ }, "wrong sum: the loss of step 5"},
		"the step":        {func(s *State) { s.Step-- }, "wrong sum: after 4 steps parameter 0"},
		"too few numbers": {func(s *State) { s.Params = s.Params[1:] }, "464 parameters of step 5 cannot be compared"},
		"no worlds":       {func(s *State) { s.Worlds = nil }, "does not say how many ranks trained"},
		"other worlds":    {func(s *State) { s.Worlds = []Segment{{0, 2}} }, "wrong sum"},
	} {
		spoilt := state
		test.spoil(&spoilt)
		_, err := spoilt.Replay()
		require.ErrorContains(t, err, test.want, name)
	}
}
