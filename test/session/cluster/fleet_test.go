// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Waiting for what Volcano's cache does in its own time.
const (
	patience = time.Minute
	tick     = 5 * time.Millisecond
)

func TestShape(t *testing.T) {
	fleet := Shape{Nodes: 7, PerRack: 2, RacksPerBlock: 2, Capacity: machine}.Fleet()
	require.Equal(t, "rack-0001", fleet[3].Rack)
	require.Equal(t, "block-000", fleet[3].Block)
	require.Equal(t, "block-001", fleet[4].Block)
	racks := fleet.Racks()
	require.Len(t, racks, 4)
	require.Len(t, racks[3], 1)
	require.Equal(t, "node-00006", racks[3][0].Name)
}

func TestFree(t *testing.T) {
	fleet := Shape{Nodes: 2, PerRack: 2, RacksPerBlock: 1, Capacity: machine}.Fleet()
	fleet[1].Running = []Amounts{{CPU: 4, Memory: 2, GPU: 1}, {CPU: 1}}
	require.Equal(t, Amounts{CPU: 59, Memory: 510, GPU: 7}, fleet[1].Free())
	require.Equal(t, Amounts{CPU: 123, Memory: 1022, GPU: 15}, fleet.Free())
	require.True(t, fleet[1].Free().Holds(Amounts{CPU: 59, Memory: 1, GPU: 7}))
	require.False(t, fleet[1].Free().Holds(Amounts{GPU: 8}))
}

func TestDemand(t *testing.T) {
	job := ServersAndWorkers("j", 2, 3, server, worker)
	require.Equal(t, 5, job.Pods())
	require.Equal(t, Amounts{CPU: 31, Memory: 128, GPU: 3}, job.Demand())
}
