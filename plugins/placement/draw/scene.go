// SPDX-License-Identifier: Apache-2.0

package draw

import (
	"cmp"
	"slices"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// scene is what there is to see, before anything has a place on paper.
type scene struct {
	t    *placement.Topology
	d    *placement.Demand
	plan *placement.Plan
	o    Options
	// pods of each node that has some, by role and index.
	pods map[placement.NodeID][]pod
	// holds are the domains that pods are in, of all tiers.
	holds map[placement.DomainID]bool
	load  map[placement.DomainID]placement.UplinkLoad
	// largest load, the first of equals; its Domain is NoDomain if no uplink carries anything.
	largest placement.UplinkLoad
	scale   scale
	// abreast is how many of the lowest domains, at their widest, stand side by side.
	abreast int
	// shows says which signs the drawing needs, and its legend explains.
	shows struct{ chip, packed, free, others, fixed, islands bool }
}

type pod struct {
	role, index, gpus int
	// fixed pods have been there before the plan.
	fixed bool
}

func newScene(t *placement.Topology, d *placement.Demand, plan *placement.Plan, o Options) (*scene, error) {
	uplinks, err := placement.Uplinks(t, d, plan.Assignments)
	if err != nil {
		return nil, err
	}
	s := &scene{
		t: t, d: d, plan: plan, o: o,
		pods:    map[placement.NodeID][]pod{},
		holds:   map[placement.DomainID]bool{},
		load:    make(map[placement.DomainID]placement.UplinkLoad, len(uplinks)),
		largest: placement.UplinkLoad{Domain: placement.NoDomain},
	}
	for _, uplink := range uplinks {
		s.load[uplink.Domain] = uplink
		if uplink.Bytes > s.largest.Bytes {
			s.largest = uplink
		}
	}
	for r := range d.Roles {
		for _, member := range d.Roles[r].Placed {
			s.shows.fixed = true
			s.add(member.Node, pod{role: r, index: member.Index, fixed: true})
		}
	}
	for _, a := range plan.Assignments {
		s.add(a.Node, pod{role: a.Role, index: a.Index})
	}
	for _, pods := range s.pods {
		slices.SortFunc(pods, func(a, b pod) int {
			return cmp.Or(cmp.Compare(a.role, b.role), cmp.Compare(a.index, b.index))
		})
	}
	s.scale = scaleOf(len(s.pods))
	return s, nil
}

func (s *scene) add(node placement.NodeID, p pod) {
	p.gpus = int(s.t.GPUs(s.d.Roles[p.role].Request))
	s.pods[node] = append(s.pods[node], p)
	for domain := placement.DomainID(node); domain != placement.NoDomain; domain = s.t.Parent(domain) {
		s.holds[domain] = true
	}
}

// top is the domain that the drawing begins with: the lowest one that has all nodes.
func (s *scene) top() placement.DomainID {
	d := s.t.Root()
	for s.t.TierOf(d) > placement.NodeTier+1 {
		lo, hi := s.t.Children(d)
		if hi-lo > 1 {
			break
		}
		d = lo
	}
	return d
}

// tierName of a domain, "cluster" for the root.
func (s *scene) tierName(d placement.DomainID) string {
	if d == s.t.Root() {
		return "cluster"
	}
	return s.t.Tiers()[s.t.TierOf(d)].Name
}

// nameOf a domain within its parent; "" for the root.
func (s *scene) nameOf(d placement.DomainID) string {
	if d == s.t.Root() {
		return ""
	}
	return s.t.LocalName(d)
}
