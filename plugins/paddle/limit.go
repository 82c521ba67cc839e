// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"errors"
	"fmt"

	"volcano.sh/apis/pkg/apis/scheduling"
	"volcano.sh/volcano/pkg/scheduler/api"

	paddlejob "github.com/paddle-volcano/paddle-volcano/plugins/paddle/job"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/topology"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// errLimit is the error of limits that cannot be read: the job waits until its owner has corrected them.
var errLimit = errors.New("a limit cannot be held")

// limit writes the limits of a plan's scope into its demand.
func (c *course) limit(p *plan) error {
	d := &p.cast.demand
	var err error
	if d.HighestTier, err = c.highestTier(p.scope); err != nil {
		return err
	}
	if p.sub != "" {
		whole := scope{job: p.job}
		tier, err := c.highestTier(whole)
		if err != nil {
			return err
		}
		if tier > 0 {
			c.plan(whole) // the first group goes where all of them have room
		}
		p.domain = c.domain(whole, tier)
	}
	if d.Colocation != placement.Required {
		return nil
	}
	if d.ColocationTier, err = c.colocationTier(); err != nil {
		return err
	}
	if d.ColocationTier == 0 { // the whole cluster is one domain: wherever servers are, they are in it
		d.Colocation = placement.Preferred
	}
	return nil
}

// highestTier is the placement tier within one domain of which a scope must stay, 0 for no limit.
func (c *course) highestTier(s scope) (int, error) {
	topology := s.networkTopology()
	if topology == nil || topology.Mode != scheduling.HardNetworkTopologyMode {
		return 0, nil
	}
	var tier int
	var err error
	switch {
	case topology.HighestTierAllowed != nil:
		tier, err = c.network.Tier(*topology.HighestTierAllowed)
	case topology.HighestTierName != "":
		tier, err = c.network.TierNamed(topology.HighestTierName)
	}
	if err != nil {
		return 0, fmt.Errorf("%w: networkTopology hard: %w", errLimit, err)
	}
	return tier, nil
}

// only is the nodes of a set that are in a domain; nil is the set of all nodes.
func (c *course) only(nodes *placement.NodeSet, domain placement.DomainID) *placement.NodeSet {
	if domain == placement.NoDomain {
		return nodes
	}
	t := c.network.Topology()
	inside := placement.NewNodeSet(t)
	lo, hi := t.NodesOf(domain)
	for node := lo; node < hi; node++ {
		if nodes == nil || nodes.Has(node) {
			inside.Add(node)
		}
	}
	return inside
}

// without is a set of nodes less those of some domains.
func (c *course) without(nodes *placement.NodeSet, domains []placement.DomainID) *placement.NodeSet {
	if len(domains) == 0 {
		return nodes
	}
	t := c.network.Topology()
	rest := c.only(nodes, t.Root())
	for _, domain := range domains {
		lo, hi := t.NodesOf(domain)
		for node := lo; node < hi; node++ {
			rest.Remove(node)
		}
	}
	return rest
}

// networkTopology is what the job, or the policy of its group, says; nil if nothing.
func (s scope) networkTopology() *scheduling.NetworkTopologySpec {
	if s.sub == "" {
		return s.job.PodGroup.Spec.NetworkTopology
	}
	sub := s.job.SubJobs[s.sub]
	if sub == nil {
		return nil
	}
	for i := range s.job.PodGroup.Spec.SubGroupPolicy {
		policy := &s.job.PodGroup.Spec.SubGroupPolicy[i]
		if sub.GID == api.SubJobGID(fmt.Sprintf("%s/%s", s.job.UID, policy.Name)) {
			return policy.NetworkTopology
		}
	}
	return nil
}

// colocationTier is the placement tier of colocation Required, 0 for the whole cluster.
func (c *course) colocationTier() (int, error) {
	if c.arguments.ColocationTier == 0 {
		return placement.NodeTier, nil
	}
	if c.network.Source() == topology.SourceFlat {
		return 0, nil
	}
	tier, err := c.network.Tier(c.arguments.ColocationTier)
	if err != nil {
		return 0, fmt.Errorf("%w: argument colocation-tier: %w", errLimit, err)
	}
	return tier, nil
}

// limited tells whether a job has limits that ordinary scoring would not keep.
func limited(job *api.JobInfo, w paddlejob.Spec) bool {
	if w.Colocation == placement.Required {
		return true
	}
	hard := func(topology *scheduling.NetworkTopologySpec) bool {
		return topology != nil && topology.Mode == scheduling.HardNetworkTopologyMode
	}
	for i := range job.PodGroup.Spec.SubGroupPolicy {
		if hard(job.PodGroup.Spec.SubGroupPolicy[i].NetworkTopology) {
			return true
		}
	}
	return hard(job.PodGroup.Spec.NetworkTopology)
}
