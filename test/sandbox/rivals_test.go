// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRivalsAreBuiltOnce(t *testing.T) {
	t.Parallel()
	names := func(o Options) (names []string) {
		for _, b := range o.builds() {
			names = append(names, b.name)
		}
		return names
	}
	require.NotContains(t, names(Options{}), "kube-scheduler")
	for _, stock := range []bool{false, true} {
		got := names(Options{Rivals: true, StockScheduler: stock})
		require.Contains(t, got, "kube-scheduler")
		count := 0
		for _, name := range got {
			if name == "vc-scheduler" {
				count++
			}
		}
		require.Equal(t, 1, count, "%v", got)
	}
}

func TestRivalsAreComponents(t *testing.T) {
	t.Parallel()
	require.True(t, isComponent(VolcanoScheduler))
	require.True(t, isComponent(KubeScheduler))
}
