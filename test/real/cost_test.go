// SPDX-License-Identifier: Apache-2.0

package real_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/test/bars"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
	"github.com/paddle-volcano/paddle-volcano/test/stats"
	"github.com/paddle-volcano/paddle-volcano/test/timeline"
)

// barrierBar is what the start barrier may add to a job's time.
const barrierBar = 2 * time.Second

// barrierCosts are what the start barriers of jobs took, by how the jobs' pods find each other.
type barrierCosts struct {
	mu sync.Mutex
	of map[v1.Intranet][]timeline.BarrierCost
}

func (c *barrierCosts) add(network v1.Intranet, cost timeline.BarrierCost) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of == nil {
		c.of = map[v1.Intranet][]timeline.BarrierCost{}
	}
	c.of[network] = append(c.of[network], cost)
}

// check holds the barrier to its bar in each network.
//
// What a barrier adds has two parts. It looks again and again whether all peers can be found, and so runs for longer than it
// must: that is its own doing, and is required here. Then the kubelet has to see that a container has ended and to start
// another, for which it takes up to a second by its own rule and as long as the machine likes: that is shown beside the bar
// and requires nothing, because on a slow machine, or beside enough other jobs, it is late whatever the barrier does.
//
// Both are counted from when every peer could be found at all (in the environment, or in the EndpointSlice that DNS reads),
// so that pods that come late are nobody's fault. Of several jobs the median counts: a machine's noise adds to some of them,
// and a rule that makes barriers wait for longer does so in each. The rule itself, to the millisecond, is tested in
// controller/barrier, on a clock of the test's.
func (c *barrierCosts) check(t *testing.T) {
	t.Helper()
	if sandbox.RealRootless() {
		t.Skip("the start barrier runs as a user that rootless nodes do not have")
	}
	var shown, required []bars.Bar
	for _, network := range everywhere {
		var idle, added []float64
		for _, cost := range c.of[network] {
			idle, added = append(idle, cost.Idle.Seconds()), append(added, cost.Added.Seconds())
		}
		if len(idle) == 0 {
			continue // of this network no job was asked for
		}
		name := func(what string) string { return fmt.Sprintf("%s: %s, of %d jobs", network, what, len(idle)) }
		limit := barrierBar.Seconds()
		own := bars.Most(name("seconds that barriers ran too long, the median"), stats.Median(idle), limit)
		required = append(required, own)
		shown = append(shown, own, bars.Most(name("the same, the most"), slices.Max(idle), limit),
			bars.Most(name("with the start of the next container, the median"), stats.Median(added), limit),
			bars.Most(name("the same, the most"), slices.Max(added), limit))
	}
	var table strings.Builder
	require.NoError(t, bars.Show(shown, &table))
	t.Log("what the start barrier adds\n" + table.String())
	require.Zero(t, bars.Missed(required), "the barrier itself makes jobs wait for longer than it may")
}
