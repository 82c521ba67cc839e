// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"k8s.io/utils/ptr"
	"volcano.sh/volcano/pkg/scheduler"
	_ "volcano.sh/volcano/pkg/scheduler/actions" // allocate and its like register themselves
	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/conf"
	"volcano.sh/volcano/pkg/scheduler/framework"
	_ "volcano.sh/volcano/pkg/scheduler/plugins" // gang and its like register themselves
	"volcano.sh/volcano/pkg/scheduler/plugins/extender"
	"volcano.sh/volcano/pkg/scheduler/plugins/usage"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle"
)

// configuration is volcano-scheduler.conf as a simulation runs it.
type configuration struct {
	actions []framework.Action
	tiers   []conf.Tier
	more    []conf.Configuration
	notes   []string
}

// external are plugins that query servers, at addresses of the cluster that is simulated.
var external = map[string]string{
	extender.PluginName: "it calls an external server",
	usage.PluginName:    "it queries metrics of the nodes",
}

func readConfiguration(text string) (*configuration, error) {
	c := &configuration{}
	if strings.TrimSpace(text) == "" {
		text = scheduler.DefaultSchedulerConf
	}
	var err error
	if c.actions, c.tiers, c.more, _, err = scheduler.UnmarshalSchedulerConf(strings.TrimSpace(text)); err != nil {
		return nil, fmt.Errorf("read the scheduler's configuration (paddle-scheduler --check-config says more): %w", err)
	}
	planned := false
	for i := range c.tiers {
		c.tiers[i].Plugins = slices.DeleteFunc(c.tiers[i].Plugins, func(plugin conf.PluginOption) bool {
			planned = planned || plugin.Name == paddle.PluginName
			_, known := framework.GetPluginBuilder(plugin.Name)
			switch {
			case external[plugin.Name] != "":
				c.note("the scheduler's plugin %s is left out: %s", plugin.Name, external[plugin.Name])
			case !known && plugin.Name != paddle.PluginName:
				c.note("the scheduler's plugin %s is left out: it is not known here", plugin.Name)
			default:
				return false
			}
			return true
		})
	}
	if !planned {
		c.note("the scheduler's configuration does not name the plugin %s: jobs are placed pod by pod, and no reason is reported for one that waits", paddle.PluginName)
	}
	c.tiers = append(c.tiers, conf.Tier{Plugins: []conf.PluginOption{{Name: tiesName, EnabledBestNode: ptr.To(true)}}})
	return c, nil
}

func (c *configuration) note(format string, args ...any) {
	c.notes = append(c.notes, fmt.Sprintf(format, args...))
}

const tiesName = "paddle-simulate-ties"

// ties is the last plugin: of nodes with equal scores, of which Volcano picks a random one, it takes the first by
// name, so that the same cluster gives the same answer. Pods that follow a plan have no ties.
type ties struct{}

var _ framework.Plugin = ties{}

// Name implements framework.Plugin.
func (ties) Name() string { return tiesName }

// OnSessionOpen implements framework.Plugin.
func (ties) OnSessionOpen(ssn *framework.Session) { ssn.AddBestNodeFn(tiesName, firstOfBest) }

// OnSessionClose implements framework.Plugin.
func (ties) OnSessionClose(*framework.Session) {}

func firstOfBest(_ *api.TaskInfo, scores map[float64][]*api.NodeInfo) *api.NodeInfo {
	best := math.Inf(-1)
	for score := range scores {
		best = max(best, score)
	}
	if len(scores[best]) == 0 {
		return nil
	}
	return slices.MinFunc(scores[best], func(a, b *api.NodeInfo) int { return cmp.Compare(a.Name, b.Name) })
}
