// SPDX-License-Identifier: Apache-2.0

package collective

import (
	"encoding/gob"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/paddle-volcano/paddle-volcano/test/trainer/model"
)

// newRings closes a ring without a network.
func newRings(t *testing.T, world int) []*Ring {
	t.Helper()
	rings := make([]*Ring, world)
	for rank := range world {
		rings[rank] = &Ring{rank: rank, world: world, deadline: 10 * time.Second}
	}
	if world > 1 {
		for rank, ring := range rings {
			next := rings[(rank+1)%world]
			from, to := net.Pipe()
			ring.next, ring.out, next.prev, next.in = from, gob.NewEncoder(from), to, gob.NewDecoder(to)
			t.Cleanup(func() { _ = from.Close() })
		}
	}
	return rings
}

// each runs all ranks at once.
func each(t *testing.T, rings []*Ring, run func(r *Ring) error) {
	t.Helper()
	var group errgroup.Group
	for _, ring := range rings {
		group.Go(func() error { return run(ring) })
	}
	require.NoError(t, group.Wait())
}

func TestRingSums(t *testing.T) {
	for world := 1; world <= 6; world++ {
		for _, length := range []int{0, 1, world - 1, world, 3*world + 1, 100} {
			rings := newRings(t, world)
			want := make([]int64, length)
			values := make([][]int64, world)
			for rank := range values {
				for i := range want {
					value := int64((rank + 1) * (i + 7))
					values[rank] = append(values[rank], value)
					want[i] += value
				}
			}
			each(t, rings, func(r *Ring) error { return r.Sum(t.Context(), values[r.rank]) })
			for rank := range values {
				require.ElementsMatch(t, want, values[rank], "%d values, %d ranks", length, world)
				require.Equal(t, fmt.Sprint(want), fmt.Sprint(values[rank]))
			}
		}
	}
}

func TestRingSpreads(t *testing.T) {
	for from := range 4 {
		rings := newRings(t, 4)
		got := make([]model.State, 4)
		each(t, rings, func(r *Ring) (err error) {
			got[r.rank], err = r.Spread(t.Context(), from, model.State{Step: 10 + r.rank})
			return err
		})
		for _, state := range got {
			require.Equal(t, 10+from, state.Step)
		}
	}
}

func TestTheFurthestIsTaken(t *testing.T) {
	rings := newRings(t, 3)
	settings := model.Settings{Seed: 1, Batch: 2}
	got := make([]model.State, 3)
	each(t, rings, func(r *Ring) (err error) {
		offered := model.NewState(settings)
		offered.Step = []int{3, 7, 7}[r.rank]
		offered.Loss = float64(r.rank)
		got[r.rank], err = NewExchange(r).Begin(t.Context(), offered)
		return err
	})
	for _, state := range got {
		require.Equal(t, []any{7, 1.0}, []any{state.Step, state.Loss}, "of two, the first")
	}
	e := NewExchange(rings[0])
	_, _, err := e.Params(t.Context(), 3)
	require.EqualError(t, err, "the parameters are of step 0")
	require.EqualError(t, e.Contribute(t.Context(), 3, nil, nil), "the parameters are of step 0")
}

func TestRingNoticesWhatIsWrong(t *testing.T) {
	hear := func(m message) error {
		rings := newRings(t, 2)
		sent := make(chan error, 1)
		go func() {
			_, err := rings[0].hear()
			sent <- err
		}()
		go func() { _ = rings[0].out.Encode(m) }()
		err := rings[1].Sum(t.Context(), make([]int64, 4))
		require.Error(t, <-sent, "which counts from 0")
		return err
	}
	require.EqualError(t, hear(message{Count: 2, Values: []int64{1, 2}}), "rank 0 is out of step: its message 2 comes as number 1")
	require.EqualError(t, hear(message{Count: 1, Values: []int64{1, 2, 3}}), "wrong sum: a chunk of 3 values where 2 belong")

	rings := newRings(t, 3)
	require.NoError(t, rings[0].next.Close())
	err := rings[0].Sum(t.Context(), make([]int64, 3))
	require.ErrorAs(t, err, &LostError{})
	require.ErrorContains(t, err, "rank 0 cannot send to rank 1")
}
