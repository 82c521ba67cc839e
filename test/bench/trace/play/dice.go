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

// tieBreakName is the plugin's name in the scheduler's configuration.
const tieBreakName = "dice"

// tieBreak chooses among the nodes of the highest score. Volcano itself chooses a random one there, without a seed. This choice is
// the same in every run of a seed. No other plugin that is compared here chooses (BestNodeFn), so nothing else changes.
type tieBreak struct{ seed uint64 }

// withTieBreak adds them to a set-up, and looks at all nodes: sampling would hide some from the baselines.
func withTieBreak(setup cluster.Setup) cluster.Setup {
	const everyNode = 100
	setup.After += "  - name: " + tieBreakName + "\n"
	setup.Percentage = everyNode
	return setup
}

// register lets the next sessions of this process use it.
func (d tieBreak) register() {
	framework.RegisterPluginBuilder(tieBreakName, func(framework.Arguments) framework.Plugin { return d })
}

// Name implements framework.Plugin.
func (tieBreak) Name() string { return tieBreakName }

// OnSessionOpen implements framework.Plugin.
func (d tieBreak) OnSessionOpen(ssn *framework.Session) {
	ssn.AddBestNodeFn(tieBreakName, func(task *api.TaskInfo, scores map[float64][]*api.NodeInfo) *api.NodeInfo {
		return d.choose(task.Name, scores)
	})
}

// OnSessionClose implements framework.Plugin.
func (tieBreak) OnSessionClose(*framework.Session) {}

// choose one of the best nodes, each as likely as any other; nil if there is none.
func (d tieBreak) choose(task string, scores map[float64][]*api.NodeInfo) *api.NodeInfo {
	best := math.Inf(-1)
	for score := range scores {
		best = max(best, score)
	}
	var chosen *api.NodeInfo
	var highest uint64
	for _, node := range scores[best] {
		if thrown := d.order(task, node.Name); chosen == nil || thrown > highest || thrown == highest && node.Name < chosen.Name {
			chosen, highest = node, thrown
		}
	}
	return chosen
}

// order returns a pseudo-random number that depends only on the seed and the names.
func (d tieBreak) order(task, node string) uint64 {
	h := fnv.New64a()
	_, _ = io.WriteString(h, task+"/"+node) // a hash never fails
	// The finalizer of splitmix64: FNV alone leaves the high bits of similar names alike.
	x := h.Sum64() ^ d.seed*0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
