// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	topologyv1alpha1 "volcano.sh/apis/pkg/apis/topology/v1alpha1"
	"volcano.sh/volcano/pkg/scheduler/api"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/topology"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/network"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// The map shows the tiers that the scheduler's plugin plans with: for random clusters both are the same, for every node of
// which all tiers are known. Volcano itself says which nodes a HyperNode holds.
func TestTiersAreThePlugins(t *testing.T) {
	t.Parallel()
	keys := []string{"net.example.com/rack", "net.example.com/block", "net.example.com/none"}
	sources, compared, nvlink := map[topology.Source]int{}, 0, 0
	for seed := range uint64(200) {
		dice := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // repeatable
		nodes := randomNodes(dice, keys)
		var hypers []topologyv1alpha1.HyperNode
		if seed%2 == 0 {
			hypers = randomHyperNodes(dice, nodes)
		}
		tree := topology.Build(nodes, nil, hypers, keys)
		plugin := network.New(network.Options{Labels: keys})
		_, err := plugin.Follow(viewOf(t, nodes, hypers))
		require.NoError(t, err)
		var tiers []string
		for _, tier := range plugin.Topology().Tiers()[placement.NodeTier+1:] {
			tiers = append(tiers, tier.Name)
		}
		require.Equal(t, tiers, tree.Tiers, "seed %d", seed)
		sources[tree.Source]++
		if slices.Contains(tiers, topology.NVLinkDomain) {
			nvlink++
		}
		for node, path := range pathsOf(tree) {
			id, ok := plugin.Topology().Node(node)
			require.True(t, ok)
			if len(tiers) == 0 {
				continue
			}
			got := plugin.Topology().DomainName(plugin.Topology().Ancestor(id, placement.NodeTier+1))
			require.Equal(t, strings.Join(path, "/"), got, "seed %d, node %s", seed, node)
			compared++
		}
	}
	require.Greater(t, sources[topology.HyperNodes], 50)
	require.Greater(t, sources[topology.Labels], 50)
	require.Greater(t, compared, 1000)
	require.Greater(t, nvlink, 50)
}

func randomNodes(dice *rand.Rand, keys []string) (nodes []*corev1.Node) {
	of := []int{0, 1, 2, 4}[dice.IntN(4)] // nodes in an NVLink domain
	for i := range 12 {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("n%d", i), Labels: map[string]string{}}}
		if dice.IntN(10) > 0 {
			node.Labels[keys[0]] = fmt.Sprintf("r%d", i/2)
		}
		if dice.IntN(10) > 0 {
			node.Labels[keys[1]] = fmt.Sprintf("b%d", i/6)
		}
		if of > 0 && (of != 4 || dice.IntN(10) > 0) {
			node.Labels[topology.CliqueLabel] = fmt.Sprintf("c%d", i/of)
		}
		nodes = append(nodes, node)
	}
	return nodes
}

// randomHyperNodes are racks by each kind of selector, blocks of these, and one that may hold a node by itself.
func randomHyperNodes(dice *rand.Rand, nodes []*corev1.Node) (hypers []topologyv1alpha1.HyperNode) {
	hyper := func(name string, tier int, tierName string) *topologyv1alpha1.HyperNode {
		hypers = append(hypers, topologyv1alpha1.HyperNode{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: topologyv1alpha1.HyperNodeSpec{Tier: tier, TierName: tierName}})
		return &hypers[len(hypers)-1]
	}
	names := []string{"", "leaf", "switch"}
	for rack := range 4 {
		h := hyper(fmt.Sprintf("h%d", rack), 1, names[dice.IntN(3)])
		m := topologyv1alpha1.MemberSpec{Type: topologyv1alpha1.MemberTypeNode}
		switch dice.IntN(3) {
		case 0:
			m.Selector.RegexMatch = &topologyv1alpha1.RegexMatch{Pattern: fmt.Sprintf("^n(%d|%d|%d)$", rack*3, rack*3+1, rack*3+2)}
		case 1:
			m.Selector.LabelMatch = &metav1.LabelSelector{MatchLabels: map[string]string{"net.example.com/rack": fmt.Sprintf("r%d", rack)}}
		default:
			m.Selector.ExactMatch = &topologyv1alpha1.ExactMatch{Name: nodes[rack*3+dice.IntN(3)].Name}
		}
		h.Spec.Members = append(h.Spec.Members, m)
	}
	for block := range 2 {
		h := hyper(fmt.Sprintf("top%d", block), 3, "")
		for rack := range 2 {
			h.Spec.Members = append(h.Spec.Members, topologyv1alpha1.MemberSpec{Type: topologyv1alpha1.MemberTypeHyperNode, Selector: topologyv1alpha1.MemberSelector{
				ExactMatch: &topologyv1alpha1.ExactMatch{Name: fmt.Sprintf("h%d", block*2+rack)},
			}})
		}
	}
	return hypers
}

// viewOf is what a session shows of the cluster, by Volcano's own cache of HyperNodes.
func viewOf(t *testing.T, nodes []*corev1.Node, hypers []topologyv1alpha1.HyperNode) network.View {
	t.Helper()
	indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, nil)
	view := network.View{Nodes: map[string]*api.NodeInfo{}}
	for _, node := range nodes {
		require.NoError(t, indexer.Add(node))
		view.Nodes[node.Name] = api.NewNodeInfo(node)
	}
	lister := corelisters.NewNodeLister(indexer)
	found, err := lister.List(labels.Everything())
	require.NoError(t, err)
	require.Len(t, found, len(nodes))
	info := api.NewHyperNodesInfo(lister)
	for i := range hypers {
		require.NoError(t, info.UpdateHyperNode(&hypers[i]))
	}
	view.HyperNodes, view.Members = info.HyperNodes(), info.RealNodesSet()
	return view
}

// pathsOf are the domains of each node of which all are known, the farthest first.
func pathsOf(tree *topology.Tree) map[string][]string {
	paths := map[string][]string{}
	var walk func(d *topology.Domain, above []string)
	walk = func(d *topology.Domain, above []string) {
		for _, node := range d.Nodes {
			paths[node.Name] = above
		}
		for _, b := range d.Below {
			if b.Name != "" {
				walk(b, append(above[:len(above):len(above)], b.Name))
			}
		}
	}
	walk(tree.Root, nil)
	return paths
}
