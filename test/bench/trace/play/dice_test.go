// SPDX-License-Identifier: Apache-2.0

package play

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"volcano.sh/volcano/pkg/scheduler/api"
)

func nodes(names ...string) []*api.NodeInfo {
	all := make([]*api.NodeInfo, len(names))
	for i, name := range names {
		all[i] = &api.NodeInfo{Name: name}
	}
	return all
}

func TestTieBreakChoosesAmongTheBest(t *testing.T) {
	best := nodes("a", "b", "c")
	scores := map[float64][]*api.NodeInfo{-1: nodes("d"), 7: best, 6.9: nodes("e")}
	count := map[string]int{}
	for i := range 3000 {
		count[tieBreak{1}.choose(fmt.Sprintf("job-00001-worker-%d", i), scores).Name]++
	}
	require.Len(t, count, 3)
	for name, n := range count {
		require.InDelta(t, 1000, n, 150, name)
	}
	require.Nil(t, tieBreak{1}.choose("task", nil))
}

func TestTieBreakIsTheSameForTheSameSeed(t *testing.T) {
	best := nodes("a", "b", "c", "d", "e", "f")
	turned := slices.Clone(best)
	slices.Reverse(turned)
	differ := false
	for i := range 50 {
		task := fmt.Sprintf("job-00001-worker-%d", i)
		one := tieBreak{1}.choose(task, map[float64][]*api.NodeInfo{1: best}).Name
		require.Equal(t, one, tieBreak{1}.choose(task, map[float64][]*api.NodeInfo{1: turned}).Name, "in any order of the nodes")
		differ = differ || one != tieBreak{2}.choose(task, map[float64][]*api.NodeInfo{1: best}).Name
	}
	require.True(t, differ)
}
