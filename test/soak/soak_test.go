// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/test/live"
)

// A slice of `make soak`.
func TestSoak(t *testing.T) {
	live.SkipUnlessAll(t)
	s := Default()
	s.For, s.Jobs, s.Nodes = 30*time.Second, 15, 12
	s.Folder = "../../_output/test-soak"
	require.NoError(t, Run(t.Context(), s, os.Stderr))
	text, err := os.ReadFile(filepath.Join(s.Folder, "report.json"))
	require.NoError(t, err)
	var r Report
	require.NoError(t, json.Unmarshal(text, &r))
	require.Len(t, r.Rounds, 2)
	require.Empty(t, r.Broken)
	require.Positive(t, r.Made)
	for _, name := range measured {
		require.Positive(t, r.Rounds[1].Sizes[name].Goroutines)
		require.Positive(t, r.Rounds[1].Sizes[name].Heap)
		require.Positive(t, r.Rounds[1].Sizes[name].RSS)
	}
}

func TestSettingsAreChecked(t *testing.T) {
	t.Parallel()
	for _, spoil := range []func(*Settings){
		func(s *Settings) { s.Jobs = 0 }, func(s *Settings) { s.Nodes = 0 }, func(s *Settings) { s.For = 0 },
		func(s *Settings) { s.Round = 0 }, func(s *Settings) { s.Pause = 0 }, func(s *Settings) { s.Patience = 0 },
	} {
		s := Default()
		require.NoError(t, s.check())
		spoil(&s)
		require.Error(t, s.check())
	}
	s := Default()
	s.For = time.Minute
	require.NoError(t, s.check())
	require.Equal(t, 30*time.Second, s.Round, "there is something to compare")
}

func TestGrowth(t *testing.T) {
	t.Parallel()
	rounds := func(sizes ...Size) (all []Round) {
		for _, size := range sizes {
			all = append(all, Round{Sizes: map[string]Size{measured[0]: size, measured[1]: {}}})
		}
		return all
	}
	quiet := Size{Goroutines: 100, Heap: 10}
	odd, cold := Size{Goroutines: 900, Heap: 90}, Size{Goroutines: 1, Heap: 1}
	require.Empty(t, growth(rounds(cold, cold, cold, quiet, quiet, quiet, quiet, odd, quiet)), "it warms up, and one outlier is ignored")
	require.Equal(t, []string{"controller has 111 goroutines, and had 100 before"}, growth(rounds(quiet, Size{Goroutines: 111, Heap: 10})))
	require.Equal(t, []string{"controller has 12.6 MiB on its heap, and had 10.0 before"}, growth(rounds(quiet, Size{Goroutines: 110, Heap: 12.6})))
}
