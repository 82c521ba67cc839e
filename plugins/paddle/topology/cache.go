// SPDX-License-Identifier: Apache-2.0

// Package topology keeps the cluster's network as the planner sees it, from session to session. It is the only reader of
// topology labels, HyperNodes, NVLink domains, and of what DRA drivers publish about GPUs. It builds a
// placement.Topology and knows nothing of jobs, plans and framework.Session.
package topology

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	topologyv1alpha1 "volcano.sh/apis/pkg/apis/topology/v1alpha1"
	"volcano.sh/volcano/pkg/scheduler/api"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

type node struct {
	name   string
	object *corev1.Node // what info was read of
	info   nodeInfo
	hypers []int32 // HyperNodes that hold it, by position
}

// nodeInfo decides the place of a node in the tree, and its islands.
type nodeInfo struct {
	labels  []string // values of the labels in the options, "" where it has none
	clique  string
	islands []int // sizes; nil where it is one island
	// unusedSlices is why the node's ResourceSlices are not used.
	unusedSlices string
}

// Sync brings the cache up to what a session shows, and reports whether the tree was built again: NodeIDs and domains are
// then others. Only nodes whose free amounts changed are updated. It fails only if no tree can be built, and then keeps
// the one that it had.
func (c *Cache) Sync(v SessionView) (rebuilt bool, err error) {
	if c.topology != nil && c.updateInPlace(v) {
		return false, nil
	}
	if len(v.Nodes) == 0 {
		rebuilt = c.topology != nil
		c.Reset()
		return rebuilt, nil
	}
	if err := c.rebuild(v); err != nil {
		return false, fmt.Errorf("build the network of %d nodes: %w", len(v.Nodes), err)
	}
	return true, nil
}

// updateInPlace updates what is free. It reports false if the tree must be built again.
func (c *Cache) updateInPlace(v SessionView) bool {
	if len(v.Nodes) != len(c.nodes) || !c.resources.covers(v.Scalars) || !c.hypers.same(v) {
		return false
	}
	republished := !c.slices.same(v.Slices)
	if republished {
		c.slices = readSlices(v.Slices)
	}
	for i := range c.nodes {
		info := v.Nodes[c.nodes[i].name]
		if info == nil || (info.Node != c.nodes[i].object || republished) && !c.same(&c.nodes[i], info) {
			return false
		}
		c.update(placement.NodeID(i), info)
	}
	return true
}

// same reports whether a new object of a node has the place and the islands of the one before.
func (c *Cache) same(kept *node, info *api.NodeInfo) bool {
	if !c.resources.covers(accelerators(info, c.options.Accelerators)) || !c.sameInfo(&kept.info, c.readNode(info)) {
		return false
	}
	kept.object = info.Node
	return true
}

// sameInfo compares what decides the tree; labels do not where HyperNodes do.
func (c *Cache) sameInfo(was *nodeInfo, is nodeInfo) bool {
	return was.clique == is.clique && was.unusedSlices == is.unusedSlices && slices.Equal(was.islands, is.islands) &&
		(c.tree.source == SourceHyperNodes || slices.Equal(was.labels, is.labels))
}

func (c *Cache) readNode(info *api.NodeInfo) nodeInfo {
	if info.Node == nil {
		return nodeInfo{labels: make([]string, len(c.options.Labels))}
	}
	f := c.options.place(info.Node)
	f.islands, f.unusedSlices = c.islandsOf(info)
	return f
}

func (o Options) place(of *corev1.Node) nodeInfo {
	f := nodeInfo{labels: make([]string, len(o.Labels)), clique: of.Labels[CliqueLabel]}
	for k, key := range o.Labels {
		f.labels[k] = of.Labels[key]
	}
	return f
}

// Options are what the plugin's arguments say.
type Options struct {
	// Labels are keys of node labels, nearest first; used when there are no HyperNodes.
	Labels []string
	// Weights of a byte over a node's border, then over the border of each tier above, nearest first. Those that are
	// missing are 4 times the one before, the first is 1.
	Weights []float64
	// IntraNodeWeight is the weight of a byte between GPUs of a node that are not linked; 0 for the default.
	IntraNodeWeight float64
	// Bandwidths of one uplink in one direction, in bytes per second: a node's, then that of each tier above. Unless
	// there is one for each, all uplinks count as equally wide.
	Bandwidths []float64
	// Accelerators are the resources that count whole GPUs, for example nvidia.com/gpu or kunlunxin.com/xpu.
	Accelerators []string
}

// Cache follows the cluster from session to session. It is not safe for concurrent use.
type Cache struct {
	options   Options
	topology  *placement.Topology
	resources resourceIndex
	nodes     []node // by NodeID
	hypers    hyperNodes
	slices    published
	tree      tree
	warnings  []string
	logged    string  // the warnings that were logged last
	free      []int64 // scratch: what is free on one node
	build     func(placement.TopologySpec) (*placement.Topology, error)
}

// New returns a cache that has seen no session. Options that package config accepts are valid.
func New(o Options) *Cache { return &Cache{options: o, build: placement.NewTopology} }

// Reset discards everything that was read. A search may still use the topology that was built from it.
func (c *Cache) Reset() { *c = Cache{options: c.options, build: c.build, logged: c.logged} }

// Topology returns the tree with what is free now, nil before the first Sync and without nodes. The caller may change what
// is free in it between Begin and Rollback.
func (c *Cache) Topology() *placement.Topology { return c.topology }

// Node returns the ID of a node by its name.
func (c *Cache) Node(name string) (placement.NodeID, bool) {
	if c.topology == nil {
		return 0, false
	}
	return c.topology.Node(name)
}

// Source returns where the tiers above the nodes come from.
func (c *Cache) Source() Source { return cmp.Or(c.tree.source, SourceFlat) }

// LogWarnings logs what was missing or contradictory when the tree was built, in a fixed order: a line for each kind, with counts
// and a few examples. It logs nothing that it logged last.
func (c *Cache) LogWarnings() {
	text := strings.Join(c.warnings, "; ")
	if text == c.logged {
		return
	}
	if c.logged = text; text != "" {
		klog.InfoS("The topology is not known in full; jobs are placed by what is known", "source", c.Source(), "warnings", text)
	}
}

// rebuild reads everything again. On an error nothing has changed.
func (c *Cache) rebuild(v SessionView) error {
	was := *c
	c.resources = c.resources.read(v, c.options.Accelerators)
	c.free = make([]int64, len(c.resources.names))
	c.slices = readSlices(v.Slices)
	nodes := make([]node, 0, len(v.Nodes))
	for _, name := range slices.Sorted(maps.Keys(v.Nodes)) {
		info := v.Nodes[name]
		nodes = append(nodes, node{name: name, object: info.Node, info: c.readNode(info)})
	}
	c.hypers = readHyperNodes(v, nodes)
	specs := make([]placement.NodeSpec, len(nodes))
	for i := range nodes {
		specs[i] = c.spec(&nodes[i], v.Nodes[nodes[i].name])
	}
	c.warnings = slices.Concat(c.resources.warnings(), islandWarnings(nodes))
	if err := c.buildTree(nodes, specs); err != nil {
		*c = was
		return err
	}
	c.nodes = make([]node, len(nodes))
	for i := range nodes {
		id, _ := c.topology.Node(nodes[i].name)
		c.nodes[id] = nodes[i]
	}
	return nil
}

// buildTree builds the tree from the first source that has tiers; should that fail, from the next.
func (c *Cache) buildTree(nodes []node, specs []placement.NodeSpec) error {
	var failed error
	for _, t := range trees(c.hypers, c.options.Labels, nodes) {
		topology, optionWarnings, err := c.buildFrom(t, nodes, specs)
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("from %s: %w", t.source, err))
			c.warnings = append(c.warnings, fmt.Sprintf("no tree can be built from %s, the next source is used: %v", t.source, err))
			continue
		}
		c.warnings = slices.Concat(c.warnings, optionWarnings, t.warnings)
		c.tree, c.topology = *t, topology
		return nil
	}
	return failed
}

// trees returns the trees of the sources that have tiers, and last the flat one.
func trees(hypers hyperNodes, labels []string, nodes []node) []*tree {
	label, flat := labelTree(labels, nodes), &tree{source: SourceFlat}
	all := slices.DeleteFunc([]*tree{hyperNodeTree(hypers, nodes), label}, func(t *tree) bool { return len(t.levels) == 0 })
	if len(all) == 0 {
		flat.warnings = label.warnings // the labels that are on no node
	}
	return append(all, flat)
}

// buildFrom builds the topology of one source, and returns warnings about the options.
func (c *Cache) buildFrom(t *tree, nodes []node, specs []placement.NodeSpec) (*placement.Topology, []string, error) {
	t.joinNVLink(nodes)
	tiers, optionWarnings := c.options.tiers(t)
	for i := range specs {
		specs[i].Domains = t.path(i)
	}
	topology, err := c.build(placement.TopologySpec{
		Resources: c.resources.names, Accelerators: c.resources.accelerators, Tiers: tiers, Nodes: specs,
	})
	if err != nil {
		return nil, nil, err
	}
	t.keepHyperNodes(topology, nodes)
	for i := range t.levels {
		t.levels[i].domains = nil // the topology has them now
	}
	return topology, optionWarnings, nil
}

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
	// Scalars are the scalar resources that jobs request in this session.
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
		nodes = append(nodes, node{name: name, info: o.place(v.Nodes[name].Node)})
	}
	t := trees(readHyperNodes(v, nodes), o.Labels, nodes)[0]
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
	return tiers, t.source, t.warnings
}
