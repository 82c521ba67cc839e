// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"testing"

	"github.com/stretchr/testify/require"
	"volcano.sh/volcano/pkg/scheduler/api"

	paddlejob "github.com/paddle-volcano/paddle-volcano/plugins/paddle/job"
)

// Without a plan, nodes near the others of the job are best, and those on which one of its pods failed come last.
//
//	         r1            r2
//	n1       n2    n3      n4
//	[j 0]
func TestScore(t *testing.T) {
	for _, test := range []struct {
		name, arguments string
		runs            bool
		failed          []string
		want            map[string]float64
	}{
		{"no member has a node", "", false, nil, map[string]float64{}},
		{"near the other", "", true, nil, map[string]float64{"n1": 1000, "n2": 761.9, "n3": 761.9, "n4": 0}},
		{"failed, no member has a node", "", false, []string{"n2", "gone"}, map[string]float64{"n2": -1010}},
		{"failed near the other", "", true, []string{"n1", "n3"}, map[string]float64{"n1": -10, "n2": 761.9, "n3": -248.1, "n4": 0}},
		{"switched off", "      weight: 0\n", true, []string{"n2"}, map[string]float64{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			group, workers := ring("j", 2)
			if test.runs {
				running(workers[:1], "n1")
			}
			c := newCluster(t, labelled(test.arguments), gpuNode("n1", "r1", 2), gpuNode("n2", "r1", 1), gpuNode("n3", "r1", 1), gpuNode("n4", "r2", 1),
				started(group), workers)
			ssn, p := c.open()
			for _, node := range test.failed {
				p.state.history.RecordFailure(namespace+"/j", node)
			}
			var nodes []*api.NodeInfo
			for _, name := range []string{"n1", "n2", "n3", "n4"} {
				nodes = append(nodes, ssn.Nodes[name])
			}
			scores := map[string]float64{}
			for node, score := range p.scorer.Scores(paddlejob.InOrder(ssn.Jobs[namespace+"/j"])[1], nodes) {
				scores[node] = score
			}
			require.InDeltaMapValues(t, test.want, scores, 0.1)
		})
	}
}
