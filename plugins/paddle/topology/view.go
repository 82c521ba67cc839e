// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	topologyv1alpha1 "volcano.sh/apis/pkg/apis/topology/v1alpha1"
	"volcano.sh/volcano/pkg/scheduler/api"
)

// SessionView is what one session shows. Nothing of it is changed. Of its objects only nodes and slices, which sessions
// share, are kept.
type SessionView struct {
	// Nodes are ssn.Nodes, HyperNodes ssn.HyperNodes, and Members ssn.RealNodesSet.
	Nodes      map[string]*api.NodeInfo
	HyperNodes api.HyperNodeInfoMap
	Members    map[string]sets.Set[string]
	// Top is the name of the HyperNode that Volcano adds above all others.
	Top string
	// Slices are devices that DRA drivers publish; nil without them.
	Slices []*resourceapi.ResourceSlice
	// Scalars are the scalar resources that jobs ask for in this session.
	Scalars []string
}

// ViewOf returns what a session would show of nodes and HyperNodes, for programs that have no session. Volcano resolves
// the members of HyperNodes. Errors are about single HyperNodes; the view holds the others.
func ViewOf(nodes []*corev1.Node, hyperNodes []topologyv1alpha1.HyperNode) (SessionView, error) {
	indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, nil)
	view := SessionView{Nodes: make(map[string]*api.NodeInfo, len(nodes))}
	var errs []error
	for _, node := range nodes {
		errs = append(errs, indexer.Add(node))
		view.Nodes[node.Name] = api.NewNodeInfo(node)
	}
	info := api.NewHyperNodesInfo(corelisters.NewNodeLister(indexer))
	// Volcano logs members that it does not know yet.
	lowestFirst := slices.SortedFunc(slices.Values(hyperNodes), func(a, b topologyv1alpha1.HyperNode) int {
		return cmp.Or(cmp.Compare(a.Spec.Tier, b.Spec.Tier), cmp.Compare(a.Name, b.Name))
	})
	for i := range lowestFirst {
		if err := info.UpdateHyperNode(&lowestFirst[i]); err != nil {
			errs = append(errs, fmt.Errorf("HyperNode %s: %w", lowestFirst[i].Name, err))
		}
	}
	view.HyperNodes, view.Members = info.HyperNodes(), info.RealNodesSet()
	return view, errors.Join(errs...)
}

// Tier is one tier above the nodes.
type Tier struct {
	Name string
	// Domains are the domains of nodes, by the nodes' names. A node without one is not in any.
	Domains map[string]string
}

// Tiers returns the tiers above the nodes that a Cache would plan with, nearest first, where they come from, and what
// is missing or contradictory.
func Tiers(o Options, v SessionView) (tiers []Tier, source Source, warnings []string) {
	nodes := make([]node, 0, len(v.Nodes))
	for _, name := range slices.Sorted(maps.Keys(v.Nodes)) {
		info := v.Nodes[name].Node
		nodes = append(nodes, node{name: name, info: o.place(info)})
	}
	hypers, of := readHyperNodes(v, nodes)
	for i := range nodes {
		nodes[i].hypers = of[i]
	}
	t := trees(hypers, o.Labels, nodes)[0]
	t.joinNVLink(nodes)
	for i, name := range t.name() {
		tier := Tier{Name: name, Domains: map[string]string{}}
		for at, domain := range t.levels[i].domains {
			if domain != "" {
				tier.Domains[nodes[at].name] = domain
			}
		}
		tiers = append(tiers, tier)
	}
	return tiers, t.source, lines(t.warnings)
}
