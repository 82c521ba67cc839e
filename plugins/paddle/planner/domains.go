// SPDX-License-Identifier: Apache-2.0

package planner

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"

	"volcano.sh/apis/pkg/apis/scheduling"
	"volcano.sh/volcano/pkg/scheduler/api"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/topology"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// ErrInvalidConstraint is the error of a networkTopology or colocation-tier that names a tier which does not exist. The job
// waits until the constraint is corrected.
var ErrInvalidConstraint = errors.New("invalid constraint")

// constrain sets the constraints of a plan's scope in its demand.
func (p *Planner) constrain(plan *Plan) error {
	d := plan.demand
	var err error
	if d.HighestTier, err = p.HighestTier(plan.Scope); err != nil {
		return err
	}
	if plan.SubJob != "" {
		whole := Scope{Job: plan.Job}
		tier, err := p.HighestTier(whole)
		if err != nil {
			return err
		}
		if tier > 0 {
			p.Plan(whole) // the first sub-job is placed where all of them fit
		}
		plan.domain = p.Domain(whole, tier)
	}
	if d.Colocation != placement.Required {
		return nil
	}
	if d.ColocationTier, err = p.ColocationTier(); err != nil {
		return err
	}
	if d.ColocationTier == 0 { // the whole cluster is one domain, and holds the servers
		d.Colocation = placement.Preferred
	}
	return nil
}

// HighestTier returns the placement tier within one domain of which networkTopology keeps a scope, 0 if it does not.
func (p *Planner) HighestTier(s Scope) (int, error) {
	spec := networkTopologyOf(s)
	if !isHard(spec) {
		return 0, nil
	}
	var tier int
	var err error
	switch {
	case spec.HighestTierAllowed != nil:
		tier, err = p.Cache.Tier(*spec.HighestTierAllowed)
	case spec.HighestTierName != "":
		tier, err = p.Cache.TierNamed(spec.HighestTierName)
	}
	if err != nil {
		return 0, fmt.Errorf("%w: networkTopology hard: %w", ErrInvalidConstraint, err)
	}
	return tier, nil
}

// ColocationTier returns the placement tier of colocation Required, 0 for the whole cluster.
func (p *Planner) ColocationTier() (int, error) {
	if p.Arguments.ColocationTier == 0 {
		return placement.NodeTier, nil
	}
	if p.Cache.Source() == topology.SourceFlat {
		return 0, nil
	}
	tier, err := p.Cache.Tier(p.Arguments.ColocationTier)
	if err != nil {
		return 0, fmt.Errorf("%w: argument colocation-tier: %w", ErrInvalidConstraint, err)
	}
	return tier, nil
}

// IsConstrained reports whether a job has constraints that normal scoring would not satisfy.
func (p *Planner) IsConstrained(job *api.JobInfo) bool {
	if p.Spec(job).Colocation == placement.Required || isHard(job.PodGroup.Spec.NetworkTopology) {
		return true
	}
	for i := range job.PodGroup.Spec.SubGroupPolicy {
		if isHard(job.PodGroup.Spec.SubGroupPolicy[i].NetworkTopology) {
			return true
		}
	}
	return false
}

func isHard(spec *scheduling.NetworkTopologySpec) bool {
	return spec != nil && spec.Mode == scheduling.HardNetworkTopologyMode
}

// networkTopologyOf returns the networkTopology of a job, or of the policy of a sub-job; nil if there is none.
func networkTopologyOf(s Scope) *scheduling.NetworkTopologySpec {
	if s.SubJob == "" {
		return s.Job.PodGroup.Spec.NetworkTopology
	}
	sub := s.Job.SubJobs[s.SubJob]
	if sub == nil {
		return nil
	}
	for i := range s.Job.PodGroup.Spec.SubGroupPolicy {
		policy := &s.Job.PodGroup.Spec.SubGroupPolicy[i]
		if sub.GID == api.SubJobGID(fmt.Sprintf("%s/%s", s.Job.UID, policy.Name)) {
			return policy.NetworkTopology
		}
	}
	return nil
}

// maxTierNumber is the highest number by which tiers are looked for, because HyperNodes may be numbered with gaps.
const maxTierNumber = 32

// TierLabel returns what users write for a placement tier in networkTopology: its number, or its name where it has none.
func (p *Planner) TierLabel(tier int) string {
	for number := 1; number <= maxTierNumber; number++ {
		if is, err := p.Cache.Tier(number); err == nil && is == tier {
			return strconv.Itoa(number)
		}
	}
	return p.Cache.Topology().TierName(tier)
}

// Domain returns the domain of a tier in which a scope has members, or else that of its plan; placement.NoDomain if it has
// neither, or for tier 0.
func (p *Planner) Domain(s Scope, tier int) placement.DomainID {
	domain := p.memberDomain(s, tier)
	if tier == 0 || domain != placement.NoDomain {
		return domain
	}
	if plan, ok := p.Planned(s); ok && plan.Found() {
		for _, id := range plan.nodes {
			return p.Cache.Topology().Ancestor(id, tier) // all are in one
		}
	}
	return domain
}

// memberDomain returns the domain of a tier in which a scope has members, placement.NoDomain if it has none or for tier 0.
func (p *Planner) memberDomain(s Scope, tier int) placement.DomainID {
	t := p.Cache.Topology()
	domain := placement.NoDomain
	if tier == 0 {
		return domain
	}
	for id := range p.Members(s) {
		if at := t.Ancestor(id, tier); domain == placement.NoDomain || at < domain { // all are in one, unless the constraint is newer
			domain = at
		}
	}
	return domain
}

// Members returns the pods of a scope that have a node, in no order.
func (p *Planner) Members(s Scope) iter.Seq2[placement.NodeID, *api.TaskInfo] {
	return func(yield func(placement.NodeID, *api.TaskInfo) bool) {
		for _, task := range s.Job.Tasks {
			id, ok := p.Cache.Node(task.NodeName)
			if ok && hasNode(task) && s.contains(task) && !yield(id, task) {
				return
			}
		}
	}
}

// SmallestHyperNode returns the smallest HyperNode that contains the nodes of a plan, nil if none does.
func (p *Planner) SmallestHyperNode(plan *Plan) *api.HyperNodeInfo {
	t, nodes := p.Cache.Topology(), plan.Nodes()
	if len(nodes) == 0 {
		return nil
	}
	for tier := placement.NodeTier; tier < len(t.Tiers()); tier++ {
		domain := t.Ancestor(nodes[0], tier)
		if found, known := p.Session.HyperNodes[p.Cache.HyperNode(domain)]; known && containsAllNodes(t, domain, nodes) {
			return found
		}
	}
	return nil
}

func containsAllNodes(t *placement.Topology, domain placement.DomainID, nodes []placement.NodeID) bool {
	return !slices.ContainsFunc(nodes, func(node placement.NodeID) bool { return !t.Holds(domain, node) })
}

// contains reports whether a node is in a domain; every node is in placement.NoDomain.
func contains(t *placement.Topology, domain placement.DomainID, node placement.NodeID) bool {
	return domain == placement.NoDomain || t.Holds(domain, node)
}

// allowed returns the nodes of a set that the constraints of a plan's job allow; nil is the set of all nodes.
func (p *Planner) allowed(plan *Plan, nodes *placement.NodeSet) *placement.NodeSet {
	t := p.Cache.Topology()
	if plan.domain != placement.NoDomain {
		nodes = t.NodesIn(plan.domain).And(nodes)
	}
	if len(plan.excludedDomains) == 0 {
		return nodes
	}
	rest := t.NodesIn(t.Root()).And(nodes)
	for _, domain := range plan.excludedDomains {
		lo, hi := t.NodesOf(domain)
		for node := lo; node < hi; node++ {
			rest.Remove(node)
		}
	}
	return rest
}
