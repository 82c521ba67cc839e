// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/paddle-volcano/paddle-volcano/test/session/cluster"
)

// Names of the schedulers that are compared.
const (
	stock           = "stock"
	taskTopology    = "task-topology"
	networkTopology = "network-topology-aware"
	bytesFirst      = "paddle-bytes"
	busiestFirst    = "paddle-busiest"
)

// byDefault is the plugin with the objective that it has where nobody says another.
const byDefault = bytesFirst

// Schedulers are all names: Volcano's set-ups first, then ours.
func Schedulers() []string {
	return append(baselines(), bytesFirst, busiestFirst)
}

func baselines() []string { return []string{stock, taskTopology, networkTopology} }

// setup of a name, also of those that are played only if asked for. Ours is told how wide the links are, as its documentation asks.
func (s *Settings) setup(name string) (cluster.Setup, error) {
	switch name {
	case stock:
		return cluster.Stock(), nil
	case taskTopology:
		return cluster.TaskTopology(), nil
	case networkTopology:
		return cluster.NetworkTopology(), nil
	case bytesFirst, busiestFirst:
		widths := make([]string, len(s.Gbps))
		for tier, gbps := range s.Gbps {
			widths[tier] = fmt.Sprintf("%gGbps", gbps)
		}
		objective := "bytes"
		if name == busiestFirst {
			objective = "max-link-load"
		}
		return cluster.Paddle(map[string]string{"objective": objective, "tier-bandwidths": strings.Join(widths, ",")}), nil
	}
	if setup, ok := tuned()[name]; ok {
		setup.Name = name
		return setup, nil
	}
	return cluster.Setup{}, fmt.Errorf("unknown scheduler %q: want some of %v, or of %v", name, Schedulers(), slices.Sorted(maps.Keys(tuned())))
}

// isOurs reports whether a name is one of the plugin's.
func isOurs(name string) bool { return strings.HasPrefix(name, "paddle-") }
