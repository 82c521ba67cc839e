// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
	"github.com/paddle-volcano/paddle-volcano/test/placement/instances"
)

// seeds returns random bytes of several lengths, the same every time.
func seeds(n int) (all [][]byte) {
	rng := rand.New(rand.NewPCG(3, 3))
	for range n {
		data := make([]byte, 20+rng.IntN(400))
		for i := range data {
			data[i] = byte(rng.Uint32())
		}
		all = append(all, data)
	}
	return all
}

// shown returns a description of the case in the bytes.
func shown(data []byte) string {
	in, err := decode(data)
	if err != nil {
		return err.Error()
	}
	return in.String()
}

func FuzzSolve(f *testing.F) {
	for _, data := range seeds(instances.Some(16, 64)) {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := promises(data); err != nil && !errors.Is(err, errInvalid) {
			t.Fatalf("%v\n%s", err, shown(data))
		}
	})
}

// FuzzSmall uses the small jobs of make bench-placement, which have just enough capacity more often than jobs that bytes describe.
func FuzzSmall(f *testing.F) {
	for index := range uint64(instances.Some(6, 16)) {
		f.Add(uint64(30), index)
	}
	f.Fuzz(func(t *testing.T, seed, index uint64) {
		in := instances.Drawn(seed, index, instances.Brute)
		err := kept(in.Options, func() (*placement.Topology, *placement.Demand, error) {
			again := instances.Drawn(seed, index, instances.Brute)
			return again.Topology, again.Demand, nil
		})
		if err != nil {
			t.Fatalf("%v\n%s", err, in)
		}
	})
}

func TestPromisesOnRandomBytes(t *testing.T) {
	valid, all := 0, seeds(instances.Some(120, 400))
	for i, data := range all {
		err := promises(data)
		if errors.Is(err, errInvalid) {
			continue
		}
		valid++
		require.NoError(t, err, "seed %d\n%s", i, shown(data))
	}
	require.Greater(t, valid, len(all)/4, "most bytes must say something that can be planned")
	require.Less(t, valid, len(all), "some bytes must say something that is not valid")
}
