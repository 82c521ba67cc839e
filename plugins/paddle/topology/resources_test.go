// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"volcano.sh/volcano/pkg/scheduler/api"
)

func TestFree(t *testing.T) {
	c := racks(1, 2)
	c.node("n02", map[string]string{"kunlunxin.com/xpu": "4", "ephemeral-storage": "30Ti"}, nil)
	c.scalars = []string{"pods", "ephemeral-storage", "rdma/hca", ""}
	c.pod("n01", "p1", map[string]string{"cpu": "1500m", "memory": "1Gi", gpu: "2"})
	c.pod("n01", "p2", nil)
	n := c.built(t, withGPUs())
	require.Equal(t, []string{"cpu", "memory", "pods", "ephemeral-storage", "kunlunxin.com/xpu", gpu, "rdma/hca"}, n.Topology().Resources())
	require.Equal(t, map[string]int64{
		"cpu": 6500, "memory": 7 << 30, "pods": 8, "ephemeral-storage": 0, "kunlunxin.com/xpu": 0, gpu: 6, "rdma/hca": 0,
	}, freeOf(t, n, "n01"))
	require.Equal(t, map[string]int64{
		"cpu": 8000, "memory": 8 << 30, "pods": 10, "ephemeral-storage": 30 << 40, "kunlunxin.com/xpu": 4, gpu: 0, "rdma/hca": 0,
	}, freeOf(t, n, "n02"))
	require.EqualValues(t, 10, n.Topology().FreeGPUs(n.Topology().Root()), "both kinds are accelerators")
	require.Empty(t, n.warnings)
	require.False(t, c.sync(t, n))
}

func TestFree_RoundsDown(t *testing.T) {
	for _, test := range []struct {
		idle          api.Resource
		cpu, mem, gpu int64
	}{
		{api.Resource{MilliCPU: 999.95, Memory: 1023.95}, 1000, 1024, 0},
		{api.Resource{MilliCPU: 999.85, Memory: 1023.85}, 999, 1023, 0},
		{api.Resource{MilliCPU: -5, Memory: -5}, 0, 0, 0},
		{api.Resource{MilliCPU: math.NaN(), Memory: math.Inf(-1)}, 0, 0, 0},
		{api.Resource{MilliCPU: math.Inf(1), Memory: 1e300}, 1 << 46, 1 << 46, 0},
		{api.Resource{ScalarResources: map[corev1.ResourceName]float64{gpu: 2000}}, 0, 0, 2},
		{api.Resource{ScalarResources: map[corev1.ResourceName]float64{gpu: 1999.95}}, 0, 0, 2},
		{api.Resource{ScalarResources: map[corev1.ResourceName]float64{gpu: 1999}}, 0, 0, 1},
		{api.Resource{ScalarResources: map[corev1.ResourceName]float64{gpu: -1000}}, 0, 0, 0},
	} {
		c := racks(1, 1)
		v := c.session()
		v.Nodes["n01"].Idle = &test.idle
		n := New(withGPUs())
		_, err := n.Sync(v)
		require.NoError(t, err)
		require.Equal(t, map[string]int64{"cpu": test.cpu, "memory": test.mem, "pods": 10, gpu: test.gpu}, freeOf(t, n, "n01"))
	}
}

// Requests that fit by Volcano's tolerance fit for the planner, and what it plans fits for Volcano.
func TestFree_RoundsAsVolcanoCompares(t *testing.T) {
	c := resourceIndex{names: firstNames}
	for milli := range 40 {
		idle := &api.Resource{MilliCPU: 2 + float64(milli)/40}
		for want := range 5 {
			task := &api.TaskInfo{InitResreq: &api.Resource{MilliCPU: float64(want)}}
			free := make([]int64, 3)
			c.free(free, idle, 1)
			require.Equal(t, task.InitResreq.LessEqual(idle, api.Zero), c.request(task)[0] <= free[0], "%v of %v", want, idle.MilliCPU)
		}
	}
}

func TestFree_DoesNotOverflow(t *testing.T) {
	c := newCluster()
	for i := range 3000 {
		c.node(fmt.Sprintf("n%04d", i), map[string]string{"memory": "8Ei", "pods": "9223372036854775807"}, nil)
	}
	n := c.built(t, Options{})
	require.EqualValues(t, 3000<<46, n.Topology().Free(n.Topology().Root())[memoryColumn])
	require.EqualValues(t, 3000<<46, n.Topology().Free(n.Topology().Root())[podsColumn])
}

func TestFree_NoPodSlots(t *testing.T) {
	c := racks(1, 2)
	c.node("n02", map[string]string{"pods": "1", gpu: "1"}, nil)
	for i := range 3 {
		c.pod("n02", fmt.Sprint("p", i), nil)
	}
	v := c.session()
	v.Nodes["n01"].Allocatable = nil // a node that the cache does not know yet
	v.Nodes["n01"].Idle = nil
	v.Nodes["n01"].Node = nil
	n := New(withGPUs())
	_, err := n.Sync(v)
	require.NoError(t, err)
	require.Equal(t, map[string]int64{"cpu": 0, "memory": 0, "pods": 0, gpu: 0}, freeOf(t, n, "n01"))
	require.EqualValues(t, 0, freeOf(t, n, "n02")["pods"])
}

func TestRequest(t *testing.T) {
	c := racks(1, 1)
	c.scalars = []string{"rdma/hca"}
	n := c.built(t, withGPUs())
	task := c.pod("", "p", map[string]string{"cpu": "1500m", "memory": "1Ki", gpu: "2", "rdma/hca": "1", "unknown.com/x": "7"})
	require.Equal(t, map[string]int64{"cpu": 1500, "memory": 1024, "pods": 1, gpu: 2, "rdma/hca": 1}, byName(n, n.Request(task)))
	task.InitResreq = &api.Resource{MilliCPU: 1500.5, Memory: 10, ScalarResources: map[corev1.ResourceName]float64{"rdma/hca": 1001}}
	require.Equal(t, map[string]int64{"cpu": 1501, "memory": 1024, "pods": 1, gpu: 2, "rdma/hca": 2}, byName(n, n.Request(task)), "the larger of each")
	require.Equal(t, map[string]int64{"cpu": 0, "memory": 0, "pods": 1, gpu: 0, "rdma/hca": 0}, byName(n, n.Request(&api.TaskInfo{})))
}

func TestResources_OnlyGrow(t *testing.T) {
	c := racks(1, 2)
	n := c.built(t, withGPUs())
	c.scalars = []string{"b/b"}
	require.True(t, c.sync(t, n))
	c.scalars = []string{"a/a"}
	require.True(t, c.sync(t, n))
	c.scalars = nil
	require.False(t, c.sync(t, n))
	require.Equal(t, []string{"cpu", "memory", "pods", "a/a", "b/b", gpu}, n.Topology().Resources())
	c.node("n02", map[string]string{"kunlunxin.com/xpu": "8"}, nil)
	require.True(t, c.sync(t, n), "the first node with an accelerator")
	require.Equal(t, []string{"cpu", "memory", "pods", "a/a", "b/b", "kunlunxin.com/xpu", gpu}, n.Topology().Resources())
	require.EqualValues(t, 16, n.Topology().FreeGPUs(n.Topology().Root()))
}

func TestResources_Limit(t *testing.T) {
	c := racks(1, 1)
	n := c.built(t, withGPUs())
	ask := func(prefix string, count int) {
		c.scalars = nil
		for i := range count {
			c.scalars = append(c.scalars, fmt.Sprintf("%s/r%03d", prefix, i))
		}
	}
	ask("a", 200)
	require.True(t, c.sync(t, n))
	ask("b", 52)
	require.True(t, c.sync(t, n))
	require.Len(t, n.Topology().Resources(), 256, "cpu, memory, pods, GPUs and those of two sessions")
	ask("b", 100)
	require.True(t, c.sync(t, n))
	require.Len(t, n.Topology().Resources(), 3+1+100, "those of earlier sessions go")
	require.Empty(t, n.warnings)
	ask("c", 300)
	require.True(t, c.sync(t, n))
	require.Len(t, n.Topology().Resources(), 256)
	require.Equal(t, []string{"resources beyond the planner's limit: 48 of 304 (c/r253, c/r254, c/r255 and 45 more)"}, n.warnings)
	require.False(t, c.sync(t, n), "they are not tried again each time")
	require.Len(t, n.Request(c.pod("", "p", map[string]string{"c/r299": "1"})), 256)
	require.Contains(t, n.Topology().Resources(), "c/r252")
}
