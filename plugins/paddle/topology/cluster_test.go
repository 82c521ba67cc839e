// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	topology "volcano.sh/apis/pkg/apis/topology/v1alpha1"
	"volcano.sh/volcano/pkg/scheduler/api"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

const (
	top = "<top>"
	gpu = "nvidia.com/gpu"
)

// cluster is what the scheduler's cache has; sessions show copies of it.
type cluster struct {
	nodes   map[string]*corev1.Node
	hypers  map[string]*topology.HyperNode
	members map[string]sets.Set[string]
	pods    map[string][]*api.TaskInfo
	slices  []*resourceapi.ResourceSlice
	scalars []string
}

func newCluster() *cluster {
	return &cluster{
		nodes: map[string]*corev1.Node{}, hypers: map[string]*topology.HyperNode{},
		members: map[string]sets.Set[string]{}, pods: map[string][]*api.TaskInfo{},
	}
}

// node adds a node, or puts another object in its place, with amounts such as nvidia.com/gpu=8 and labels.
func (c *cluster) node(name string, amounts, labels map[string]string) {
	list := corev1.ResourceList{}
	for key, value := range map[string]string{"cpu": "8", "memory": "8Gi", "pods": "10"} {
		list[corev1.ResourceName(key)] = resource.MustParse(value)
	}
	for key, value := range amounts {
		list[corev1.ResourceName(key)] = resource.MustParse(value)
	}
	c.nodes[name] = &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels, Annotations: map[string]string{}},
		Status:     corev1.NodeStatus{Allocatable: list, Capacity: list},
	}
}

// hyper adds a HyperNode that holds nodes, or changes it.
func (c *cluster) hyper(name string, tier int, tierName string, nodes ...string) {
	c.hypers[name] = &topology.HyperNode{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: topology.HyperNodeSpec{Tier: tier, TierName: tierName},
	}
	c.members[name] = sets.New(nodes...)
}

// pod puts a pod on a node.
func (c *cluster) pod(node, name string, amounts map[string]string) *api.TaskInfo {
	list := corev1.ResourceList{}
	for key, value := range amounts {
		list[corev1.ResourceName(key)] = resource.MustParse(value)
	}
	task := api.NewTaskInfo(&corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID(name)},
		Spec:       corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: list}}}},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning},
	})
	if node != "" {
		c.pods[node] = append(c.pods[node], task)
	}
	return task
}

func (c *cluster) removePod(node, pod string) {
	c.pods[node] = slices.DeleteFunc(c.pods[node], func(task *api.TaskInfo) bool { return task.Name == pod })
}

// session returns a copy, as a session has it: all is new but the objects of nodes and slices.
func (c *cluster) session() SessionView {
	v := SessionView{
		Nodes: map[string]*api.NodeInfo{}, HyperNodes: api.HyperNodeInfoMap{}, Members: map[string]sets.Set[string]{},
		Top: top, Slices: slices.Clone(c.slices), Scalars: slices.Clone(c.scalars),
	}
	for name, object := range c.nodes {
		v.Nodes[name] = api.NewNodeInfo(object)
		for _, task := range c.pods[name] {
			if err := v.Nodes[name].AddTask(task.Clone()); err != nil {
				panic(err)
			}
		}
	}
	for name, object := range c.hypers {
		v.HyperNodes[name] = api.NewHyperNodeInfo(object.DeepCopy(), api.ParentOpt(top))
		v.Members[name] = c.members[name].Clone()
	}
	v.HyperNodes[top] = api.NewHyperNodeInfo(&topology.HyperNode{ObjectMeta: metav1.ObjectMeta{Name: top}, Spec: topology.HyperNodeSpec{Tier: 99}})
	v.Members[top] = sets.KeySet(c.nodes)
	return v
}

// sync lets the network follow the cluster, and reports whether it rebuilt the tree.
func (c *cluster) sync(t *testing.T, n *Cache) bool {
	t.Helper()
	rebuilt, err := n.Sync(c.session())
	require.NoError(t, err)
	requireSound(t, n, len(c.nodes))
	return rebuilt
}

// built returns a network that has seen the cluster once.
func (c *cluster) built(t *testing.T, o Options) *Cache {
	t.Helper()
	n := New(o)
	require.True(t, c.sync(t, n))
	return n
}

// requireSound checks what must hold of every network.
func requireSound(t *testing.T, n *Cache, nodes int) {
	t.Helper()
	topology := n.Topology()
	if nodes == 0 {
		require.Nil(t, topology)
		return
	}
	require.Equal(t, nodes, topology.Nodes())
	for id := range placement.NodeID(nodes) {
		kept := n.nodes[id]
		require.Equal(t, topology.NodeName(id), kept.name)
		islands := topology.Islands(id)
		require.Len(t, islands, len(kept.info.islands))
		if len(islands) > 0 {
			require.Equal(t, int(topology.FreeGPUs(placement.DomainID(id))), freeGPUs(islands), kept.name)
			for i, size := range kept.info.islands {
				require.Equal(t, size, islands[i].Size)
			}
		}
	}
}

// paths returns the domains of all nodes, as "b1/r1/n1".
func paths(n *Cache) []string {
	var paths []string
	for id := range n.Topology().Nodes() {
		paths = append(paths, n.Topology().DomainName(placement.DomainID(id)))
	}
	return paths
}

// freeOf returns what the topology thinks is free on a node, by resource.
func freeOf(t *testing.T, n *Cache, node string) map[string]int64 {
	t.Helper()
	id, ok := n.Node(node)
	require.True(t, ok)
	return byName(n, n.Topology().Free(placement.DomainID(id)))
}

func byName(n *Cache, amounts []int64) map[string]int64 {
	named := map[string]int64{}
	for i, name := range n.Topology().Resources() {
		named[name] = amounts[i]
	}
	return named
}

// islandsOf are the free GPUs of a node's islands.
func freeIslands(t *testing.T, n *Cache, node string) []int {
	t.Helper()
	id, ok := n.Node(node)
	require.True(t, ok)
	var free []int
	for _, island := range n.Topology().Islands(id) {
		free = append(free, island.Free)
	}
	return free
}

// racks returns a cluster with nodes n01, n02 and so on, so many in each of so many HyperNodes r1, r2 of tier 1.
func racks(count, each int) *cluster {
	c := newCluster()
	for r := range count {
		var nodes []string
		for i := range each {
			nodes = append(nodes, fmt.Sprintf("n%02d", r*each+i+1))
			c.node(nodes[i], map[string]string{gpu: "8"}, nil)
		}
		c.hyper(fmt.Sprintf("r%d", r+1), 1, "", nodes...)
	}
	return c
}

func withGPUs() Options { return Options{Accelerators: []string{gpu, "kunlunxin.com/xpu"}} }

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// with adds nodes of which nothing is known.
func (c *cluster) with(names ...string) *cluster {
	for _, name := range names {
		c.node(name, nil, nil)
	}
	return c
}

// tierNames returns what people call the tiers, from the island up; nil before the first Sync.
func tierNames(c *Cache) (names []string) {
	if c.topology == nil {
		return nil
	}
	for _, tier := range c.topology.Tiers() {
		names = append(names, tier.Name)
	}
	return names
}

func freeGPUs(islands []placement.Island) (sum int) {
	for _, island := range islands {
		sum += island.Free
	}
	return sum
}
