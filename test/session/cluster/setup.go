// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	scheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
)

// Setup is a configuration of the scheduler, and what its users write into their jobs.
type Setup struct {
	Name string
	// Before stands after gang in the first tier, After last in the second: lines of volcano-scheduler.conf.
	Before, After string
	// Percentage is --percentage-nodes-to-find; 0 is the default.
	Percentage int32
	// Dress writes into a job's PodGroup what the set-up's documentation asks for; nil writes nothing.
	Dress func(*Job, *scheduling.PodGroup)
}

// configuration is volcano-scheduler.conf: the plugins that all set-ups have, and the set-up's own.
func (s *Setup) configuration() string {
	return fmt.Sprintf(`actions: "enqueue, allocate, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
%s- plugins:
  - name: drf
  - name: predicates
  - name: proportion
  - name: nodeorder
  - name: binpack
%s`, s.Before, s.After)
}

// Stock is Volcano without more.
func Stock() Setup { return Setup{Name: "stock"} }

// Paddle is the same with our plugin, where deploy/v1/scheduler.yaml has it.
func Paddle(arguments map[string]string) Setup {
	return Setup{Name: "paddle", Before: pluginLines("paddle", arguments)}
}

// TaskTopology is stock with the plugin task-topology as in its user guide (docs/user-guide/how_to_use_task_topology_plugin.md):
// weight 10, servers near workers, servers apart from each other; the ring's workers near each other.
func TaskTopology() Setup {
	return Setup{
		Name:  "task-topology",
		After: pluginLines("task-topology", map[string]string{"task-topology.weight": "10"}),
		Dress: func(job *Job, group *scheduling.PodGroup) {
			if job.Mode == PS {
				annotate(group, "volcano.sh/task-topology-affinity", ServerTask+","+WorkerTask)
				annotate(group, "volcano.sh/task-topology-anti-affinity", ServerTask)
				annotate(group, "volcano.sh/task-topology-task-order", ServerTask+","+WorkerTask)
				return
			}
			annotate(group, "volcano.sh/task-topology-affinity", WorkerTask)
		},
	}
}

// TaskTopologyTogether is the same without keeping the servers apart from each other.
func TaskTopologyTogether() Setup {
	setup := TaskTopology()
	setup.Name = "task-topology, together"
	setup.Dress = func(job *Job, group *scheduling.PodGroup) {
		tasks := make([]string, len(job.Roles))
		for i := range job.Roles {
			tasks[i] = job.Roles[i].Task
		}
		annotate(group, "volcano.sh/task-topology-affinity", strings.Join(tasks, ","))
	}
	return setup
}

// NetworkTopology is stock with the plugin network-topology-aware and the weights of its user guide
// (docs/user-guide/how_to_use_network_topology_aware_scheduling.md); jobs ask for it softly.
func NetworkTopology() Setup {
	return Setup{
		Name: "network-topology-aware",
		After: pluginLines("network-topology-aware", map[string]string{
			"weight": "10", "hypernode.binpack.cpu": "5", "hypernode.binpack.memory": "1",
			"hypernode.binpack.resources": gpuName, "hypernode.binpack.resources." + gpuName: "2",
		}),
		Dress: func(_ *Job, group *scheduling.PodGroup) {
			group.Spec.NetworkTopology = &scheduling.NetworkTopologySpec{Mode: scheduling.SoftNetworkTopologyMode}
		},
	}
}

func annotate(group *scheduling.PodGroup, key, value string) {
	if group.Annotations == nil {
		group.Annotations = map[string]string{}
	}
	group.Annotations[key] = value
}

func pluginLines(name string, arguments map[string]string) string {
	var text strings.Builder
	fmt.Fprintf(&text, "  - name: %s\n", name)
	if len(arguments) > 0 {
		text.WriteString("    arguments:\n")
	}
	for _, key := range slices.Sorted(maps.Keys(arguments)) {
		fmt.Fprintf(&text, "      %s: %s\n", key, arguments[key])
	}
	return text.String()
}
