// SPDX-License-Identifier: Apache-2.0

package gangs_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/paddle-volcano/paddle-volcano/test/sandbox/topology"
)

// drawn returns a gang of one server and two workers, of which s and w are bound where they stand: a letter is a second and
// a version.
func drawn(name, bindings string) *gang {
	return drawnOf(name, bindings, map[string]int{"s": 1, "w": 2})
}

func drawnOf(name, bindings string, tasks map[string]int) *gang {
	g := &gang{name: name + "-1", job: name, tasks: tasks, pods: map[string]int{}}
	for task, n := range tasks {
		g.members += n
		g.pods[task] = n
	}
	begin, indexes := time.Unix(1700000000, 0), map[string]int{}
	for second, letter := range bindings {
		if letter != ' ' {
			at := begin.Add(time.Duration(second) * time.Second)
			g.bindings = append(g.bindings, binding{
				pod: name + "-" + strconv.Itoa(second), task: string(letter), index: indexes[string(letter)], version: uint64(100 + second), arrived: at, stamp: at,
			})
			indexes[string(letter)]++
		}
	}
	return g
}

func TestPartFaults(t *testing.T) {
	const boundPartly = "a (PodGroup a-1) was partly bound for 8.0 s (8 s by the API server's stamps; 3 pods): "
	for name, tc := range map[string]struct {
		gangs         []*gang
		change        func(a *gang)
		faults, notes []string
	}{
		"at once":           {gangs: []*gang{drawn("a", "sww")}},
		"not begun":         {gangs: []*gang{drawn("a", "")}},
		"just not too long": {gangs: []*gang{drawn("a", "sw   w"), drawn("b", "  sww")}},
		"left":              {gangs: []*gang{drawn("a", "sw")}, faults: []string{"a (PodGroup a-1) is left partly bound: 2 pods are, of 3"}},
		"without a server":  {gangs: []*gang{drawn("a", "www")}, faults: []string{"a (PodGroup a-1) is left partly bound: 3 pods are, of 3"}},
		"no other gang is bound": {
			gangs: []*gang{drawn("a", "sw      w"), drawn("b", "")},
			notes: []string{boundPartly + "no gang overtook it, so the API server was slow"},
		},
		"side by side": {
			gangs: []*gang{drawn("a", "sw      w"), drawn("b", "     s ww")},
			notes: []string{boundPartly + "no gang overtook it, so the API server was slow"},
		},
		"those that began later are whole later": {
			gangs: []*gang{drawn("a", "sw      w"), drawn("b", "      sw w")},
			notes: []string{boundPartly + "no gang overtook it, so the API server was slow"},
		},
		"overtaken": {
			gangs:  []*gang{drawn("a", "sw      w"), drawn("b", "      s"), drawnOf("c", "      w", map[string]int{"w": 1})},
			faults: []string{"b (PodGroup b-1) is left partly bound: 1 pods are, of 3", boundPartly + "c (PodGroup c-1) began later by more than the bound and was whole earlier"},
		},
		"all stand still for a minute": {
			gangs: []*gang{drawn("a", "sw"+strings.Repeat(" ", 60)+"w"), drawn("b", "")},
			faults: []string{"a (PodGroup a-1) was partly bound for 62.0 s (62 s by the API server's stamps; 3 pods): " +
				"no gang overtook it, but no API server is as slow"},
		},
		"the watch was late": {
			gangs:  []*gang{drawn("a", "sw      w"), drawnOf("c", "      w", map[string]int{"w": 1})},
			change: func(a *gang) { a.bindings[2].stamp = a.bindings[0].stamp },
		},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.change != nil {
				tc.change(tc.gangs[0])
			}
			faults, notes := partFaults(tc.gangs)
			require.ElementsMatch(t, tc.faults, faults)
			require.ElementsMatch(t, tc.notes, notes)
		})
	}
}

func TestAbandoned(t *testing.T) {
	const words = "0/500 nodes are available"
	said := func(version uint64, pod, task string) refusal {
		return refusal{pod: pod, task: task, words: words, version: version}
	}
	for name, tc := range map[string]struct {
		refusals []refusal
		elastic  int // workers beyond the minimum
		faults   []string
	}{
		"before and after":                   {refusals: []refusal{said(99, "", ""), said(99, "a-9", "w"), said(103, "", ""), said(103, "a-9", "w")}},
		"the gang":                           {refusals: []refusal{said(101, "", "")}, faults: []string{"a (PodGroup a-1) was partly bound when the scheduler said of it: " + words}},
		"a pod":                              {refusals: []refusal{said(101, "a-2", "w")}, faults: []string{"a (PodGroup a-1) was partly bound when the scheduler said of a-2: " + words}},
		"a pod beyond the minimum":           {elastic: 1, refusals: []refusal{said(101, "a-3", "w"), said(102, "a-3", "w")}},
		"more pods than may be done without": {elastic: 1, refusals: []refusal{said(101, "a-3", "w"), said(101, "a-2", "w")}, faults: []string{"a (PodGroup a-1) was partly bound when the scheduler said of a-2: " + words}},
	} {
		t.Run(name, func(t *testing.T) {
			g := drawn("a", "sww")
			g.pods["w"] += tc.elastic
			g.refusals = tc.refusals
			faults, notes := partFaults([]*gang{g})
			require.Equal(t, tc.faults, faults)
			require.Empty(t, notes)
		})
	}
}

func TestGangFigures(t *testing.T) {
	g := drawn("a", " s  w w w")
	n, whole := g.whole()
	require.True(t, whole)
	require.Equal(t, 3, n, "the minimum, without what came after it")
	arrived, stamped := g.took()
	require.Equal(t, 5*time.Second, arrived)
	require.Equal(t, 5*time.Second, stamped)
	g.bindings[1].index, g.bindings[3].index = 2, 0
	require.Equal(t, []binding{g.bindings[0], g.bindings[2], g.bindings[3]}, g.first(), "the minimum is worker 0 and 1")
}

// Volcano made worker 1 last, so that the scheduler had placed the others by then.
//
//	rack   r1              r2
//	node   a     b         c
//	       s w0  w2 w3     w1
func TestRacksOfTheMinimum(t *testing.T) {
	in := &capacity{rack: map[string]string{"a": "r1", "b": "r1", "c": "r2"}}
	placed := func(nodes ...string) *gang {
		g := drawn("a", "swwww")
		for i, node := range nodes {
			g.bindings[i].node = node
		}
		g.bindings = g.bindings[:len(nodes)]
		return g
	}
	require.Equal(t, []string{"r1"}, placed("a", "a", "c", "b", "b").racks(in))
	require.Equal(t, []string{"r1", "r2"}, placed("c", "a", "c", "b", "b").racks(in), "the server is alone")
	require.Equal(t, []string{"r1", "r2"}, placed("a", "a", "c").racks(in))
	require.Equal(t, []string{"r2"}, placed("c", "c", "c").racks(in))
}

// Two racks of two nodes with 8 GPUs and 10 pods each.
//
//	 r1      r2
//	a  b    c  d
func fourNodes() *capacity {
	var nodes []corev1.Node
	for _, at := range []struct{ name, rack string }{{"a", "r1"}, {"b", "r1"}, {"c", "r2"}, {"d", "r2"}} {
		nodes = append(nodes, corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: at.name, Labels: map[string]string{topology.LabelRack: at.rack}},
			Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{
				"nvidia.com/gpu": resource.MustParse("8"), corev1.ResourcePods: resource.MustParse("10"),
			}},
		})
	}
	return newCapacity(nodes)
}

func gpus(numbers ...int64) []amounts {
	var pods []amounts
	for _, n := range numbers {
		pods = append(pods, amounts{"nvidia.com/gpu": n * 1000, corev1.ResourcePods: 1000})
	}
	return pods
}

func TestCapacity(t *testing.T) {
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
	require.Equal(t, "r1", rack, "the capacity of finished pods is free")
	require.True(t, r.without(uses, 2, "x", nil).holds("r1", gpus(8, 7)), "its own capacity is free for itself")
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
