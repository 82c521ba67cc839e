// SPDX-License-Identifier: Apache-2.0

package peers

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox/topology"
)

// Set-ups of Volcano.
const (
	// paddle has the plugin, with the configuration of deploy/v1/scheduler.yaml.
	paddle = "paddle"
	// stock is as its installer has it, which knows no topology. tuned is the same for speed.
	stock = "volcano"
	tuned = "volcano-tuned"
	// networkTopologyAware has the plugin of that name, HyperNodes, and jobs that require a rack.
	networkTopologyAware = "volcano-network-topology-aware"
)

func newVolcano(name string) (*peer, error) {
	const users = "system:serviceaccount:volcano-system:volcano-"
	p := &peer{
		module: "hack/plane", path: "volcano.sh/volcano", options: sandbox.Options{StockScheduler: name != paddle},
		components: []string{sandbox.Scheduler}, users: []string{users + "scheduler"},
		helpers: []string{sandbox.VolcanoController, sandbox.VolcanoWebhooks}, helperUsers: []string{users + "controllers", users + "admission"},
		job: "volcano-job.yaml", pods: "volcano-pods.yaml", required: name == paddle || name == networkTopologyAware,
	}
	switch name {
	case networkTopologyAware:
		p.install = installHyperNodes
	case tuned:
		p.options.Args = map[string][]string{sandbox.Scheduler: {"--percentage-nodes-to-find=2", "-v=1"}}
	default:
		return p, nil
	}
	var err error
	p.options.SchedulerConf, err = render(name+".conf", nil)
	return p, err
}

func installHyperNodes(ctx context.Context, at *site) error {
	hyperNodes, err := objects("volcano-hypernodes.yaml", racksOf(at.nodes))
	if err != nil {
		return err
	}
	return at.apply(ctx, "HyperNodes", hyperNodes)
}

// racksOf returns the racks of each block.
func racksOf(nodes []*corev1.Node) map[string][]string {
	blocks := map[string][]string{}
	for _, node := range nodes {
		block, rack := node.Labels[topology.LabelBlock], node.Labels[topology.LabelRack]
		if !slices.Contains(blocks[block], rack) {
			blocks[block] = append(blocks[block], rack)
		}
	}
	return blocks
}
