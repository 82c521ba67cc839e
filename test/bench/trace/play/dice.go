// SPDX-License-Identifier: Apache-2.0

package play

import (
	"hash/fnv"
	"io"
	"math"

	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/framework"

	"github.com/paddle-volcano/paddle-volcano/test/session/cluster"
)

// diceName is the plugin's name in the scheduler's configuration.
const diceName = "dice"

// dice choose among the nodes of the highest score. Volcano itself throws dice there, which nobody can seed; these fall the
// same way in every run of a seed. No other plugin that is compared here chooses (BestNodeFn), so nothing else changes.
type dice struct{ seed uint64 }

// withDice adds them to a set-up, and looks at all nodes: sampling would hide some from the baselines.
func withDice(setup cluster.Setup) cluster.Setup {
	const everyNode = 100
	setup.After += "  - name: " + diceName + "\n"
	setup.Percentage = everyNode
	return setup
}

// register lets the next sessions of this process use these dice.
func (d dice) register() {
	framework.RegisterPluginBuilder(diceName, func(framework.Arguments) framework.Plugin { return d })
}

// Name implements framework.Plugin.
func (dice) Name() string { return diceName }

// OnSessionOpen implements framework.Plugin.
func (d dice) OnSessionOpen(ssn *framework.Session) {
	ssn.AddBestNodeFn(diceName, func(task *api.TaskInfo, scores map[float64][]*api.NodeInfo) *api.NodeInfo {
		return d.choose(task.Name, scores)
	})
}

// OnSessionClose implements framework.Plugin.
func (dice) OnSessionClose(*framework.Session) {}

// choose one of the best nodes, each as likely as any other; nil if there is none.
func (d dice) choose(task string, scores map[float64][]*api.NodeInfo) *api.NodeInfo {
	best := math.Inf(-1)
	for score := range scores {
		best = max(best, score)
	}
	var chosen *api.NodeInfo
	var highest uint64
	for _, node := range scores[best] {
		if thrown := d.throw(task, node.Name); chosen == nil || thrown > highest || thrown == highest && node.Name < chosen.Name {
			chosen, highest = node, thrown
		}
	}
	return chosen
}

// throw is a number that looks random and depends on nothing but the seed and the names.
func (d dice) throw(task, node string) uint64 {
	h := fnv.New64a()
	_, _ = io.WriteString(h, task+"/"+node) // a hash never fails
	// The finalizer of splitmix64: FNV alone leaves the high bits of similar names alike.
	x := h.Sum64() ^ d.seed*0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
