// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"volcano.sh/volcano/pkg/scheduler/api"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// A node has two islands of four GPUs. Pods take the fullest island that holds them.
func TestEstimate(t *testing.T) {
	type step struct {
		pod  string // comes with so many GPUs, or goes with 0
		gpus int
		want []int
	}
	for _, test := range []struct {
		name  string
		steps []step
	}{
		{"pods fill an island before they break the next", []step{{"a", 1, []int{3, 4}}, {"b", 2, []int{1, 4}}, {"c", 2, []int{1, 2}}, {"d", 1, []int{0, 2}}}},
		{"what is too large for what is left takes the other island", []step{{"a", 1, []int{3, 4}}, {"b", 4, []int{3, 0}}}},
		{"a pod that needs both", []step{{"a", 6, []int{0, 2}}}},
		{"the last that came goes", []step{{"a", 3, []int{1, 4}}, {"b", 2, []int{1, 2}}, {"b", 0, []int{1, 4}}, {"a", 0, []int{4, 4}}}},
		{"an earlier one goes", []step{{"a", 4, []int{0, 4}}, {"b", 2, []int{0, 2}}, {"a", 0, []int{2, 4}}}},
		{"the GPUs of an island that holds as many come free", []step{{"a", 3, []int{1, 4}}, {"b", 1, []int{0, 4}}, {"c", 3, []int{0, 1}}, {"a", 0, []int{0, 4}}}},
		{"all is well again once the node is empty", []step{{"a", 3, []int{1, 4}}, {"b", 1, []int{0, 4}}, {"c", 3, []int{0, 1}}, {"a", 0, []int{0, 4}},
			{"b", 0, []int{1, 4}}, {"c", 0, []int{4, 4}}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := machine("NVIDIA-L40S")
			n := c.built(t, withGPUs())
			for _, step := range test.steps {
				if step.gpus > 0 {
					c.pod("n1", step.pod, map[string]string{gpu: strconv.Itoa(step.gpus)})
				} else {
					c.removePod("n1", step.pod)
				}
				require.False(t, c.sync(t, n))
				require.Equal(t, step.want, freeIslands(t, n, "n1"), "%v", step)
			}
		})
	}
}

func TestRefresh_TaskTakenBack(t *testing.T) {
	c := machine("NVIDIA-L40S")
	n := c.built(t, withGPUs())
	c.pod("n1", "a", map[string]string{gpu: "2"})
	c.sync(t, n)
	c.pod("n1", "b", map[string]string{gpu: "3"})
	c.sync(t, n)
	before := freeIslands(t, n, "n1")
	require.Equal(t, []int{2, 1}, before)
	info := c.session().Nodes["n1"]
	task := c.pod("", "d", map[string]string{gpu: "1"})
	for range 3 {
		require.NoError(t, info.AddTask(task))
		n.Refresh(info)
		require.NotEqual(t, before, freeIslands(t, n, "n1"))
		require.NoError(t, info.RemoveTask(task))
		n.Refresh(info)
		require.Equal(t, before, freeIslands(t, n, "n1"))
		requireSound(t, n, 1)
	}
}

// A caller may refresh a node while it tries something, and then take all of that back.
func TestRefresh_RolledBack(t *testing.T) {
	c := machine("NVIDIA-L40S")
	n := c.built(t, withGPUs())
	info := c.session().Nodes["n1"]
	mark := n.Topology().Begin()
	require.NoError(t, info.AddTask(c.pod("", "a", map[string]string{gpu: "5"})))
	n.Refresh(info)
	require.NoError(t, info.AddTask(c.pod("", "b", map[string]string{gpu: "2"})))
	n.Refresh(info)
	n.Topology().Rollback(mark)
	require.Equal(t, []int{4, 4}, freeIslands(t, n, "n1"))
	c.pod("n1", "c", map[string]string{gpu: "1"})
	require.False(t, c.sync(t, n))
	require.Equal(t, []int{3, 4}, freeIslands(t, n, "n1"))
}

// Pods are assumed to have come in the order in which they were created.
func TestEstimate_PodsByCreation(t *testing.T) {
	c := machine("NVIDIA-L40S")
	for i, gpus := range []string{"3", "1", "2"} {
		task := c.pod("n1", fmt.Sprint("p", 9-i), map[string]string{gpu: gpus})
		task.Pod.CreationTimestamp = metav1.Unix(int64(i), 0)
	}
	pipelined := c.pod("n1", "waits", map[string]string{gpu: "2"})
	pipelined.Status = api.Pipelined
	require.Equal(t, []int{0, 2}, freeIslands(t, c.built(t, withGPUs()), "n1"))
	for _, task := range c.pods["n1"] {
		task.Pod.CreationTimestamp = metav1.Time{}
	}
	require.Equal(t, []int{1, 1}, freeIslands(t, c.built(t, withGPUs()), "n1"), "by name: 2, then 1, then 3")
}

func TestSetFuture(t *testing.T) {
	c := machine("NVIDIA-L40S")
	c.pod("n1", "stays", map[string]string{gpu: "1", "cpu": "1"})
	c.pod("n1", "ends", map[string]string{gpu: "3", "cpu": "2"}).Status = api.Releasing
	c.pod("n1", "waits", map[string]string{gpu: "2", "cpu": "1"}).Status = api.Pipelined
	n := c.built(t, withGPUs())
	now := map[string]int64{"cpu": 5000, "memory": 8 << 30, "pods": 7, gpu: 4}
	require.Equal(t, now, freeOf(t, n, "n1"))
	islands := freeIslands(t, n, "n1")
	mark := n.Topology().Begin()
	n.SetFuture(c.session().Nodes["n1"])
	require.Equal(t, map[string]int64{"cpu": 6000, "memory": 8 << 30, "pods": 8, gpu: 5}, freeOf(t, n, "n1"))
	require.Equal(t, 5, freeGPUs(n.Topology().Islands(0)))
	n.Topology().Rollback(mark)
	require.Equal(t, now, freeOf(t, n, "n1"))
	require.Equal(t, islands, freeIslands(t, n, "n1"))
	require.False(t, c.sync(t, n))
}

func TestAdjustTo(t *testing.T) {
	islands := []placement.Island{{Size: 4, Free: 1}, {Size: 4, Free: 3}}
	for gpus := range 9 {
		now := slices.Clone(islands)
		adjustTo(now, gpus)
		require.Equal(t, gpus, freeGPUs(now))
		for _, island := range now {
			require.LessOrEqual(t, island.Free, island.Size)
			require.GreaterOrEqual(t, island.Free, 0)
		}
	}
}
