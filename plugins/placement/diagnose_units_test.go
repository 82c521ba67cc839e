// SPDX-License-Identifier: Apache-2.0

package placement_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
	"github.com/paddle-volcano/paddle-volcano/test/placement/placementtest"
)

// Amounts of cpu are thousandths here: what is needed is rounded up, what is free down.
func TestSetUnits(t *testing.T) {
	topology := placementtest.ClusterOf(t, []string{"rack"}, "r1/n1 1999 8", "r1/n2 1999 8")
	d := placement.Demand{Roles: []placement.Role{placementtest.RoleOf("worker", placement.Worker, 2, 2001, 1)}}
	e, err := placement.Diagnose(topology, &d, placement.Options{})
	require.NoError(t, err)
	plain := e.Sentence(nil)
	require.Contains(t, plain, "the cluster has 3998 cpu free, 4002 needed")
	largest := map[string]int64{}
	e.SetUnits(func(resource string, most int64) (placement.Unit, bool) {
		largest[resource] = most
		return placement.Unit{One: "CPU", Many: "CPUs", Number: func(amount int64, up bool) string {
			if up {
				amount += 999
			}
			return strconv.FormatInt(amount/1000, 10)
		}}, resource == "cpu"
	})
	require.Equal(t, map[string]int64{"cpu": 4002, "nvidia.com/gpu": 1}, largest)
	require.Contains(t, e.Sentence(nil), "the cluster has 3 CPUs free, 5 needed, and no node has the 3 CPUs that one worker needs (the most is 1)")
	e.SetUnits(func(string, int64) (placement.Unit, bool) { return placement.Unit{}, false })
	require.Equal(t, plain, e.Sentence(nil))
}
