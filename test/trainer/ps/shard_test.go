// SPDX-License-Identifier: Apache-2.0

package ps

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/test/trainer/model"
)

var settings = model.Settings{Seed: 3, Batch: 8}

// shards are all servers of a job.
func shards(t *testing.T, servers, world int) []*Shard {
	t.Helper()
	all := make([]*Shard, 0, servers)
	for i := range servers {
		shard := NewShard(i, servers, world, settings, 50*time.Millisecond)
		require.Equal(t, Welcome{}, shard.Welcome())
		require.NoError(t, shard.Start(model.NewState(settings)))
		require.Equal(t, Welcome{Started: true}, shard.Welcome())
		all = append(all, shard)
	}
	return all
}

// push is what a trainer pushes to a shard of a part in a step.
func push(t *testing.T, shard *Shard, rank, step int, part model.Part) Push {
	t.Helper()
	replica := model.NewReplica(settings)
	for range step {
		replica.Next(shard.world)
	}
	gradient := model.Compute(replica.Params, model.Clicks(settings.Seed, step, rank, settings.Batch))
	low, _ := part.Range()
	from, to := overlap(part, shard.low, shard.high)
	p := Push{Rank: rank, Step: step, Part: part, Sums: gradient.Parts[part][from-low : to-low]}
	if part == model.Middle {
		p.Loss = gradient.Loss
	}
	return p
}

// In whatever order gradients come, and however many servers there are, the sum is that of one process.
func TestShardsSum(t *testing.T) {
	replica := model.NewReplica(settings)
	replica.Next(3)
	for servers := 1; servers <= 5; servers++ {
		params := make([]float64, 0, model.Size)
		for _, shard := range shards(t, servers, 3) {
			for _, rank := range []int{2, 0, 1} {
				for _, part := range []model.Part{model.Middle, model.Front} {
					require.Equal(t, 0, shard.Welcome().Step)
					require.NoError(t, shard.Push(push(t, shard, rank, 0, part)))
				}
			}
			version, err := shard.Pull(t.Context(), 1)
			require.NoError(t, err)
			require.Equal(t, []model.Segment{{From: 0, World: 3}}, version.Worlds)
			require.InDelta(t, replica.Loss, version.Loss, 0)
			params = append(params, version.Params...)
		}
		require.NoError(t, replica.Check(1, params, replica.Loss), servers)
	}
}

func TestShardRefuses(t *testing.T) {
	shard := shards(t, 2, 2)[0]
	good := push(t, shard, 1, 0, model.Front)
	for name, test := range map[string]struct {
		spoil func(*Push)
		want  string
	}{
		"a rank too high":    {func(p *Push) { p.Rank = 2 }, "wrong rank: a gradient of trainer 2 of 2"},
		"a rank below 0":     {func(p *Push) { p.Rank = -1 }, "wrong rank"},
		"too few values":     {func(p *Push) { p.Sums = p.Sums[1:] }, "pushes 231 values of the front, and 232 are here"},
		"another part":       {func(p *Push) { p.Part = model.Middle }, "values of the middle, and 0 are here"},
		"a step to come":     {func(p *Push) { p.Step = 1 }, "trainer 1 pushes for step 2, and the server is at step 1"},
		"a step before all":  {func(p *Push) { p.Step = -1 }, "pushes for step 0"},
		"nothing of a start": {func(p *Push) { p.Step = -2 }, "pushes for step -1"},
	} {
		bad := good
		bad.Sums = slices.Clone(good.Sums)
		test.spoil(&bad)
		require.ErrorContains(t, shard.Push(bad), test.want, name)
	}
	require.NoError(t, shard.Push(good))
	require.NoError(t, shard.Push(good), "the same once more, as from one that has come back")
	other := good
	other.Sums = slices.Clone(good.Sums)
	other.Sums[5]++
	require.ErrorContains(t, shard.Push(other), "wrong sum: trainer 1 pushes two gradients of the front for step 1")

	state := model.NewState(settings)
	require.NoError(t, shard.Start(state), "the same start changes nothing")
	state.Params[0]++
	require.ErrorContains(t, shard.Start(state), "the server is at step 0 already, and is told to start at step 0")
	require.ErrorContains(t, NewShard(0, 1, 1, settings, time.Second).Push(Push{Sums: make([]int64, 320)}), "before the server has parameters")
}

func TestShardSaysWhoIsMissing(t *testing.T) {
	shard := shards(t, 1, 3)[0]
	require.NoError(t, shard.Push(push(t, shard, 1, 0, model.Front)))
	require.NoError(t, shard.Push(push(t, shard, 1, 0, model.Middle)))
	require.NoError(t, shard.Push(push(t, shard, 0, 0, model.Middle)))
	_, err := shard.Pull(t.Context(), 1)
	require.EqualError(t, err, "step 1: no gradient from trainers [0 2] within 50ms", "half a gradient is none")
	_, err = NewShard(0, 1, 1, settings, 50*time.Millisecond).Ready(t.Context())
	require.EqualError(t, err, "trainer 0 has not brought the parameters within 50ms")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = shard.Pull(ctx, 1)
	require.ErrorIs(t, err, errEnds)
	require.ErrorIs(t, shard.AllDone(ctx), context.Canceled)
}

// One that has come back is a step behind where the others have gone on.
func TestShardKeepsTheLastStep(t *testing.T) {
	shard := shards(t, 1, 1)[0]
	for step := range 2 {
		for _, part := range []model.Part{model.Front, model.Middle} {
			require.NoError(t, shard.Push(push(t, shard, 0, step, part)))
		}
	}
	require.Equal(t, 2, shard.Welcome().Step)
	require.NoError(t, shard.Push(push(t, shard, 0, 1, model.Front)), "what was counted is not counted twice")
	require.ErrorContains(t, shard.Push(push(t, shard, 0, 0, model.Front)), "pushes for step 1, and the server is at step 3")
	version, err := shard.Pull(t.Context(), 1)
	require.NoError(t, err)
	require.Equal(t, 1, version.Step)
	_, err = shard.Pull(t.Context(), 0)
	require.ErrorContains(t, err, "the server is at step 2, and is asked for step 0")
	shard.Done(0)
	shard.Done(0)
	require.NoError(t, shard.AllDone(t.Context()))
}
