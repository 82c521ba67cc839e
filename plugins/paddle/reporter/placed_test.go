// SPDX-License-Identifier: Apache-2.0

package reporter

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"volcano.sh/volcano/pkg/scheduler/api"

	paddlejob "github.com/paddle-volcano/paddle-volcano/plugins/paddle/job"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// Four nodes in two racks of a block:
//
//	     b1
//	 r1      r2
//	n1 n2  n3 n4
func TestReportOfAPlacedGang(t *testing.T) {
	var spec placement.TopologySpec
	spec.Resources, spec.Tiers = []string{"cpu"}, placement.DefaultTiers("rack", "block")
	for n, rack := range []string{"r1", "r1", "r2", "r2"} {
		spec.Nodes = append(spec.Nodes, placement.NodeSpec{Name: fmt.Sprintf("n%d", n+1), Domains: []string{rack, "b1"}, Free: []int64{9}})
	}
	topology, err := placement.NewTopology(spec)
	require.NoError(t, err)
	g := paddlejob.Gang{{Task: "ps", Role: paddlejob.Server, Min: 1}, {Task: "worker", Role: paddlejob.Worker, Min: 2}}

	for _, test := range []struct {
		name    string
		nodes   map[string]string // of each pod
		bytes   float64
		text    string
		details string
	}{
		{
			"one node", map[string]string{"ps-0": "n3", "worker-0": "n3", "worker-1": "n3"}, 0,
			"1 server and 2 workers are on 1 node of rack b1/r2", "a step of training sends nothing between nodes\nn3: 1 server and 2 workers",
		}, {
			"two nodes of a rack", map[string]string{"ps-0": "n1", "worker-0": "n1", "worker-1": "n2"}, 0,
			"1 server and 2 workers are on 2 nodes of rack b1/r1",
			"a step of training sends 2 times the model between nodes\nn1: 1 server and 1 worker\nn2: 1 worker",
		}, {
			"two racks of a block", map[string]string{"ps-0": "n1", "worker-0": "n3", "worker-1": "n4"}, 3 * gib,
			"1 server and 2 workers are on 3 nodes in 2 racks of block b1",
			"a step of training sends 12 GiB between nodes and 12 GiB between racks\nn1: 1 server\nn3: 1 worker\nn4: 1 worker",
		}, {
			"links of a known width", map[string]string{"ps-0": "n1", "worker-0": "n3", "worker-1": "n4"}, 1e9,
			"1 server and 2 workers are on 3 nodes in 2 racks of block b1",
			"a step of training sends 3.8 GiB between nodes and 3.8 GiB between racks\n" +
				"the busiest link takes 0.16 s of each step, between nodes\nn1: 1 server\nn3: 1 worker\nn4: 1 worker",
		}, {
			"a pod alone", map[string]string{"worker-0": "n4"}, 0,
			"1 worker is on 1 node of rack b1/r2", "a step of training sends nothing between nodes\nn4: 1 worker",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			topology := topology
			if test.name == "links of a known width" {
				wide := spec
				wide.Tiers = slices.Clone(spec.Tiers)
				wide.Tiers[placement.NodeTier].Bandwidth, wide.Tiers[placement.NodeTier+1].Bandwidth = 12.5e9, 50e9 // 100 and 400 Gbps
				topology, err = placement.NewTopology(wide)
				require.NoError(t, err)
			}
			job := api.NewJobInfo("ns/job")
			d := placement.Demand{Pattern: placement.ParameterServer, ParameterBytes: test.bytes, Roles: []placement.Role{
				{Name: "server", CommRole: placement.Server, Request: []int64{0}}, {Name: "worker", CommRole: placement.Worker, Request: []int64{0}},
			}}
			for _, pod := range []string{"ps-0", "worker-0", "worker-1"} {
				name, ok := test.nodes[pod]
				if !ok {
					continue
				}
				task, index, _ := strings.Cut(pod, "-")
				job.AddTaskInfo(podOf(pod, task, name, api.Bound))
				node, _ := topology.Node(name)
				role := map[string]int{"ps": 0, "worker": 1}[task]
				d.Roles[role].Placed = append(d.Roles[role].Placed, placement.Placed{Index: int(index[0] - '0'), Node: node})
			}
			cost, err := placement.Evaluate(topology, &d, nil)
			require.NoError(t, err)
			r := report.NewPlaced(podsOn(job, g), tiersUsed(topology, &d, &cost), test.bytes > 0)
			require.Equal(t, test.text, r.Message)
			require.Equal(t, test.text+"\n"+test.details, r.ConditionMessage())
			require.Len(t, r.Placement.Nodes, strings.Count(test.details, "\nn"))
			require.Len(t, r.Placement.Tiers, 3)
		})
	}
}

const gib = 1 << 30
