// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/framework"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// Placement is what a gang that was just placed does with the network, in figures: what the condition says in words.
type Placement struct {
	// Tiers are those of the network, from the node up.
	Tiers []PlacedTier
	// InBytes tells whether traffic is in bytes; else it is in sizes of the model.
	InBytes bool
}

// PlacedTier is one tier of the network under a placed gang.
type PlacedTier struct {
	Name string
	// Crossing is what a step of training sends over the borders of the tier's domains.
	Crossing float64
	// Domains are those of the gang's nodes, by the nodes' names.
	Domains map[string]string
}

// NewObservedBuilder is NewBuilder for who replays a scheduler: observe is told each gang that is placed, by the key of
// its PodGroup, as the session closes. It is not told gangs that Volcano placed without looking at the network.
func NewObservedBuilder(observe func(job api.JobID, placement Placement)) framework.PluginBuilder {
	return buildOn(&keeper{observe: observe})
}

// observed is what an observer is told of the tiers that a gang uses.
func (p *plugin) observed(job *api.JobInfo, tiers []report.Tier, inBytes bool) {
	if p.kept.observe == nil || len(tiers) == 0 {
		return
	}
	t := p.course.network.Topology()
	placed := Placement{InBytes: inBytes}
	for i, use := range tiers {
		tier := PlacedTier{Name: use.Name, Crossing: use.Crossing, Domains: map[string]string{}}
		for name := range podsOn(job, nil) {
			if id, ok := t.Node(name); ok {
				tier.Domains[name] = t.DomainName(t.Ancestor(id, placement.NodeTier+i))
			}
		}
		placed.Tiers = append(placed.Tiers, tier)
	}
	p.kept.observe(job.UID, placed)
}
