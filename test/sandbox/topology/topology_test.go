// SPDX-License-Identifier: Apache-2.0

package topology_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/paddle-volcano/paddle-volcano/test/sandbox/topology"
)

const (
	shapes = "shapes: {std: {cpu: 16, memory: 64Gi}}\n"
	block  = "blocks: [{racks: [{nodes: [{shape: std}]}]}]\n"
)

// place is where a node stands, as its labels say.
type place struct{ node, rack, block string }

func places(t *topology.Topology) []place {
	var out []place
	for _, n := range t.Nodes() {
		out = append(out, place{n.Name, n.Labels[topology.LabelRack], n.Labels[topology.LabelBlock]})
	}
	return out
}

func TestPlaces(t *testing.T) {
	tests := map[string]struct {
		yaml string
		want []place
	}{
		"one node": {
			yaml: shapes + block,
			want: []place{{"rack-0-node-0", "rack-0", "block-0"}},
		},
		// block-0        block-1        block-2
		// rack-0 rack-1  rack-2 rack-3  rack-4
		"racks are numbered over all blocks": {
			yaml: shapes + "blocks:\n- count: 2\n  racks: [{count: 2, nodes: [{shape: std}]}]\n- racks: [{nodes: [{shape: std, count: 2}]}]\n",
			want: []place{
				{"rack-0-node-0", "rack-0", "block-0"}, {"rack-1-node-0", "rack-1", "block-0"},
				{"rack-2-node-0", "rack-2", "block-1"}, {"rack-3-node-0", "rack-3", "block-1"},
				{"rack-4-node-0", "rack-4", "block-2"}, {"rack-4-node-1", "rack-4", "block-2"},
			},
		},
		"names are used, and numbered where they stand for several": {
			yaml: shapes + "blocks:\n- racks: [{name: a, nodes: [{shape: std}]}]\n- racks: [{name: f, count: 2, nodes: [{shape: std}]}]\n",
			want: []place{{"a-node-0", "a", "block-0"}, {"f-0-node-0", "f-0", "block-1"}, {"f-1-node-0", "f-1", "block-1"}},
		},
		"groups of a rack are numbered on": {
			yaml: shapes + "blocks: [{racks: [{nodes: [{shape: std, count: 2}, {shape: std}]}]}]\n",
			want: []place{
				{"rack-0-node-0", "rack-0", "block-0"}, {"rack-0-node-1", "rack-0", "block-0"}, {"rack-0-node-2", "rack-0", "block-0"},
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			parsed, err := topology.Parse([]byte(test.yaml))
			require.NoError(t, err)
			require.Equal(t, test.want, places(parsed))
		})
	}
}

func TestNodeOfAShape(t *testing.T) {
	parsed, err := topology.Parse([]byte(`
labels: {who: all, what: all}
shapes:
  big:
    cpu: 32
    memory: 256Gi
    pods: 30
    gpus: 8
    rdma: 4
    product: Tesla-P100-SXM2-16GB
    labels: {what: shape, b: shape, c: shape}
    taints: [{key: only, value: gpu, effect: NoSchedule}]
blocks:
- racks:
  - labels: {b: rack, c: rack}
    nodes: [{shape: big, labels: {c: node}}]
`))
	require.NoError(t, err)
	nodes := parsed.Nodes()
	require.Len(t, nodes, 1)
	node := nodes[0]
	require.Equal(t, map[string]string{
		"kubernetes.io/hostname": "rack-0-node-0", "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64",
		"topology.kubernetes.io/region": "sandbox", "topology.kubernetes.io/zone": "zone-0",
		"network.topology.nvidia.com/block": "rack-0", "network.topology.nvidia.com/spine": "block-0",
		"node.kubernetes.io/instance-type": "big", "nvidia.com/gpu.present": "true", "nvidia.com/gpu.count": "8",
		"nvidia.com/gpu.product": "Tesla-P100-SXM2-16GB",
		"who":                    "all", "what": "shape", "b": "rack", "c": "node",
	}, node.Labels)
	require.Equal(t, []corev1.Taint{{Key: "only", Value: "gpu", Effect: corev1.TaintEffectNoSchedule}}, node.Spec.Taints)
	for name, want := range map[corev1.ResourceName]string{
		"cpu": "32", "memory": "256Gi", "ephemeral-storage": "500Gi", "pods": "30", "nvidia.com/gpu": "8", "rdma/hca": "4",
	} {
		got := node.Status.Allocatable[name]
		require.Zero(t, got.Cmp(resource.MustParse(want)), "%s is %s", name, got.String())
	}
	require.Equal(t, node.Status.Capacity, node.Status.Allocatable)
	require.Len(t, node.Status.Allocatable, 6)
}

func TestDefaultsOfAShape(t *testing.T) {
	parsed, err := topology.Parse([]byte(shapes + block))
	require.NoError(t, err)
	allocatable := parsed.Nodes()[0].Status.Allocatable
	require.Equal(t, int64(110), allocatable.Pods().Value())
	require.Equal(t, "500Gi", allocatable.StorageEphemeral().String())
	require.NotContains(t, allocatable, corev1.ResourceName("nvidia.com/gpu"))
}

func TestNodeAddressesDiffer(t *testing.T) {
	const nodes = 70_000
	seen := map[string]bool{}
	for _, node := range topology.Uniform(nodes).Nodes() {
		require.Equal(t, corev1.NodeInternalIP, node.Status.Addresses[0].Type)
		seen[node.Status.Addresses[0].Address] = true
	}
	require.Len(t, seen, nodes)
	require.Contains(t, seen, "10.64.0.1")
	require.Contains(t, seen, "10.65.0.0")
}

func TestInvalid(t *testing.T) {
	tests := map[string]struct{ yaml, want string }{
		"nothing":            {"{}", "shapes is empty: describe at least one kind of node\nblocks is empty"},
		"unknown field":      {shapes + block + "racks: 3\n", `unknown field "racks"`},
		"no cpu":             {"shapes: {std: {memory: 1Gi}}\n" + block, "shapes.std.cpu is missing"},
		"bad memory":         {"shapes: {std: {cpu: 1, memory: 64Gb}}\n" + block, `shapes.std.memory is "64Gb", which is no quantity`},
		"memory of nothing":  {"shapes: {std: {cpu: 1, memory: 0}}\n" + block, `shapes.std.memory is "0": it must be more than 0`},
		"cpu is a list":      {"shapes: {std: {cpu: [1], memory: 1}}\n" + block, "[1] is neither a string nor a number"},
		"no pods":            {"shapes: {std: {cpu: 1, memory: 1, pods: 0}}\n" + block, "shapes.std.pods is 0: it must be at least 1"},
		"negative gpus":      {"shapes: {std: {cpu: 1, memory: 1, gpus: -1}}\n" + block, "shapes.std.gpus is -1"},
		"product of nothing": {"shapes: {std: {cpu: 1, memory: 1, product: A100}}\n" + block, `shapes.std.product is "A100", but there are no gpus`},
		"no racks":           {shapes + "blocks: [{}]", "blocks[0].racks is empty"},
		"no nodes":           {shapes + "blocks: [{racks: [{}]}]", "blocks[0].racks[0].nodes is empty"},
		"unknown shape":      {shapes + "blocks: [{racks: [{nodes: [{shape: gpu}]}]}]", `blocks[0].racks[0].nodes[0].shape is "gpu", which is none of the shapes (std)`},
		"no blocks wanted":   {shapes + "blocks: [{count: 0, racks: [{nodes: [{shape: std}]}]}]", "blocks[0].count is 0: it must be at least 1"},
		"negative racks":     {shapes + "blocks: [{racks: [{count: -1, nodes: [{shape: std}]}]}]", "blocks[0].racks[0].count is -1"},
		"no nodes wanted":    {shapes + "blocks: [{racks: [{nodes: [{shape: std, count: 0}]}]}]", "blocks[0].racks[0].nodes[0].count is 0"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := topology.Parse([]byte(test.yaml))
			require.ErrorContains(t, err, test.want)
		})
	}
}

func TestLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "topology.yaml")
	_, err := topology.Load(path)
	require.ErrorContains(t, err, "read topology")
	require.NoError(t, os.WriteFile(path, []byte(shapes), 0o600))
	_, err = topology.Load(path)
	require.ErrorContains(t, err, path)
	require.NoError(t, os.WriteFile(path, []byte(shapes+block), 0o600))
	loaded, err := topology.Load(path)
	require.NoError(t, err)
	require.Len(t, loaded.Nodes(), 1)
}

func TestUniform(t *testing.T) {
	for nodes, want := range map[int]struct{ racks, blocks int }{1: {1, 1}, 4: {1, 1}, 5: {2, 1}, 16: {4, 1}, 17: {5, 2}, 64: {16, 4}} {
		made := topology.Uniform(nodes)
		require.NoError(t, made.Validate())
		racks, blocks := map[string]bool{}, map[string]bool{}
		for _, p := range places(made) {
			racks[p.rack], blocks[p.block] = true, true
		}
		require.Len(t, made.Nodes(), nodes)
		require.Len(t, racks, want.racks, "racks of %d nodes", nodes)
		require.Len(t, blocks, want.blocks, "blocks of %d nodes", nodes)
	}
	require.Error(t, topology.Uniform(0).Validate())
}
