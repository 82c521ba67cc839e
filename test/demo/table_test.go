// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestWriteTable(t *testing.T) {
	nodes := map[string]Node{
		"rack-0-node-0": {Rack: "rack-0"}, "rack-0-node-3": {Rack: "rack-0"}, "rack-1-node-0": {Rack: "rack-1"}, "lonely": {},
	}
	done := NewStory(trains, time.Second)
	done.SeePod(Pod{Name: "job-ps-0", Role: "ps", Node: "rack-0-node-0"})
	done.SeePod(Pod{Name: "job-worker-0", Role: "worker", Node: "rack-0-node-0"})
	done.SeePod(Pod{Name: "job-worker-1", Role: "worker", Node: "rack-0-node-0"})
	done.SeeStatus(9500*time.Millisecond, Status{Mode: "PS", Phase: "Completed", Reason: "not for the table"})

	apart := NewStory(Job{Name: "apart", Roles: []Role{{"worker", 4}}}, 0)
	for i, node := range []string{"rack-1-node-0", "rack-0-node-3", "lonely", "rack-0-node-0"} {
		apart.SeePod(Pod{Name: podName("worker", i), Role: "worker", Node: node})
	}
	apart.SeeStatus(2*time.Second, Status{Mode: "Collective", Phase: "Running"})

	pending := NewStory(waits, 2*time.Second)
	pending.SeePod(Pod{Name: "job-ps-0", Role: "ps"})
	pending.SeeStatus(3*time.Second, Status{Mode: "PS", Phase: "Pending", Reason: "no room for worker 1"})

	var out strings.Builder
	require.NoError(t, WriteTable(&out, []*Story{done, apart, pending, NewStory(Job{Name: "unseen", Roles: []Role{{"worker", 1}}}, 0)}, nodes, 12*time.Second))
	require.Equal(t, strings.TrimLeft(`
JOB     MODE        PHASE      TIME          ROLE    WHERE
trains  PS          Completed  8.5s          ps      rack-0: node-0
                                             worker  rack-0: node-0 x2
apart   Collective  Running    12.0s so far  worker  -: lonely; rack-0: node-0, node-3; rack-1: node-0
waits   PS          Pending    10.0s so far  ps      -
                                             worker  -
unseen  -           -          12.0s so far  worker  -

waits is Pending: no room for worker 1
`, "\n"), out.String())
}
