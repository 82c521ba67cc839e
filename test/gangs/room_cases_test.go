// SPDX-License-Identifier: Apache-2.0

package gangs_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

// Two racks of two nodes with 8 GPUs and 10 pods each.
//
//	 r1      r2
//	a  b    c  d
func fourNodes() *room {
	var nodes []corev1.Node
	for _, at := range []struct{ name, rack string }{{"a", "r1"}, {"b", "r1"}, {"c", "r2"}, {"d", "r2"}} {
		nodes = append(nodes, corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: at.name, Labels: map[string]string{sandbox.LabelRack: at.rack}},
			Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{
				"nvidia.com/gpu": resource.MustParse("8"), corev1.ResourcePods: resource.MustParse("10"),
			}},
		})
	}
	return newRoom(nodes)
}

func gpus(numbers ...int64) []amounts {
	var pods []amounts
	for _, n := range numbers {
		pods = append(pods, amounts{"nvidia.com/gpu": n * 1000, corev1.ResourcePods: 1000})
	}
	return pods
}

func TestRoom(t *testing.T) {
	r := fourNodes()
	require.True(t, r.holds("r1", gpus(3, 3, 5, 5)), "the largest first")
	require.False(t, r.holds("r1", gpus(8, 8, 1)))
	require.False(t, r.holds("r1", gpus(6, 6, 3)), "there are 16, and not where they are needed")
	require.False(t, r.holds("r1", gpus(make([]int64, 21)...)), "21 pods")

	uses := []use{
		{version: 1, gang: "x", node: "a", takes: gpus(8)[0]},
		{version: 2, gang: "y", node: "b", takes: gpus(1)[0]},
		{version: 3, gang: "x", node: "a", takes: gpus(8)[0], ends: true},
	}
	rack, ok := r.without(uses, 2, "", nil).anyHolds(gpus(8))
	require.True(t, ok)
	require.Equal(t, "r2", rack)
	rack, ok = r.without(uses, 3, "", nil).anyHolds(gpus(8))
	require.True(t, ok)
	require.Equal(t, "r1", rack, "what has ended is free")
	require.True(t, r.without(uses, 2, "x", nil).holds("r1", gpus(8, 7)), "its own room is free for itself")
	require.True(t, r.without(uses, 1, "x", nil).holds("r1", gpus(8, 8)), "y is bound later")
	require.False(t, r.without(uses, 1, "x", map[string]bool{"y": true}).holds("r1", gpus(8, 8)), "y was placed before it was bound")
	_, ok = r.anyHolds(gpus(8, 8, 8))
	require.False(t, ok)

	require.Empty(t, r.overfull(uses))
	uses = append(uses, use{version: 4, gang: "z", node: "b", takes: gpus(8)[0]}, use{version: 5, gang: "z", node: "b", takes: gpus(1)[0]})
	require.Equal(t, []string{"node b has too little nvidia.com/gpu when a pod of z is bound"}, r.overfull(uses), "once")
}

func TestPlacedBefore(t *testing.T) {
	r := newRecorder()
	for name, session := range map[string]int{"earlier": 1, "same": 2, "later": 3, "not yet": 0} {
		r.gangs[name] = &gang{name: name, session: session}
	}
	require.Equal(t, map[string]bool{"earlier": true, "same": true, "later": false, "not yet": false}, r.placedBefore(&gang{session: 2}))
	require.Equal(t, map[string]bool{"earlier": true, "same": true, "later": true, "not yet": false}, r.placedBefore(&gang{}), "its session is not known")
}
