// SPDX-License-Identifier: Apache-2.0

package placed

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/test/bench/live/load"
)

// Two gangs of one server and four workers: one in a node, the other with a worker in the next rack.
//
//	block-0: rack-0 (16 nodes)   rack-1 (4 nodes)
func TestOf(t *testing.T) {
	t.Parallel()
	l := load.Load{Gangs: 2, Gang: 5}
	where := map[string]string{}
	for _, job := range l.Jobs() {
		for _, role := range job.Roles {
			for index := range role.Pods {
				where[job.PodName(role.Task, index)] = "rack-0-node-0"
			}
		}
	}
	q, err := Of(load.Cluster(20), l.Jobs(), where)
	require.NoError(t, err)
	require.Equal(t, Quality{Nodes: 1, Racks: 1}, q)

	where[l.Jobs()[1].PodName("worker", 3)] = "rack-1-node-2"
	q, err = Of(load.Cluster(20), l.Jobs(), where)
	require.NoError(t, err)
	// The worker sends its gradients and fetches the parameters: 2 sizes of the model, for one gang of two.
	require.Equal(t, Quality{Node: 1, Rack: 1, Nodes: 1.5, Racks: 1.5}, q)

	where[l.Jobs()[0].PodName("ps", 0)] = ""
	_, err = Of(load.Cluster(20), l.Jobs(), where)
	require.ErrorContains(t, err, `is on node ""`)
}
