// SPDX-License-Identifier: Apache-2.0

package drawing

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/topology"
)

// small is two racks: GPUs in the first, one of whose nodes is cordoned, and CPUs in the second.
//
//	b0
//	├── r0: g0 (8 GPUs) g1 (8, cordoned)
//	└── r1: c0 (128 CPUs)
func small(pods ...*corev1.Pod) *Objects {
	nodes := []*corev1.Node{
		node("g0", 8, map[string]string{"rack": "r0", "block": "b0"}), node("g1", 8, map[string]string{"rack": "r0", "block": "b0"}),
		node("c0", 0, map[string]string{"rack": "r1", "block": "b0"}),
	}
	nodes[1].Spec.Unschedulable = true
	return &Objects{Nodes: nodes, Labels: []string{"rack", "block"}, Pods: pods, Namespace: "team", At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
}

func TestText(t *testing.T) {
	t.Parallel()
	ended := podOf("a", "worker", 9, "g0", 8, "1")
	ended.Status.Phase = corev1.PodSucceeded
	o := small(
		podOf("a", "worker", 0, "g0", 3, "1"), podOf("b", "worker", 0, "g0", 2, "1"), podOf("a", "ps", 0, "c0", 0, "16"), podOf("b", "ps", 0, "c0", 0, "1"),
		podOf("", "other", 0, "g1", 1, "1"), podOf("", "other", 1, "c0", 0, "32"), podOf("", "daemon", 0, "g0", 0, "1"), podOf("b", "worker", 1, "", 1, "1"), ended,
		podOf("b", "ps", 1, "g0", 0, "0"),
	)
	a, waits := &v1.PaddleJob{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "a"}}, &v1.PaddleJob{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "waits"}}
	over := &v1.PaddleJob{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "over"}}
	a.Status.Phase, waits.Status.Phase, over.Status.Phase = v1.Running, v1.Pending, v1.Completed
	a.Spec.PS, a.Spec.Worker, waits.Spec.Worker = &v1.ResourceSpec{Replicas: 1}, &v1.ResourceSpec{Replicas: 4}, &v1.ResourceSpec{Replicas: 7}
	o.Jobs = []*v1.PaddleJob{over, waits, a}
	require.Equal(t, `3 nodes in 2 racks of 1 block; 16 GPUs, 3 free.
The tiers are those of the nodes' labels.

b0 (block): 3 nodes, 16 GPUs, 3 free
  r0 AAABB...+B #.......!
  r1 (AB#.....)

A team/a: Running; 1 ps, 1 of 4 workers; 2 nodes, 2 racks, 1 block
B team/b: 2 ps, 1 worker; 2 nodes, 2 racks, 1 block
  team/waits: Pending; 0 of 7 workers
. free
# others: pods that are no PaddleJob's
! a node that takes no pods: not ready, or cordoned
( ) a node without GPUs: each cell is an eighth of its CPUs
+ below or behind a node's GPUs: its jobs that have pods without GPUs there
`, New(o).Text(Terminal{Width: 80}))

	o.Name = "over"
	require.Contains(t, New(o).Text(Terminal{Width: 80}), "team/over: Completed", "a job that is asked for is listed in any case")
	narrow := New(o).Text(Terminal{Width: 20})
	require.Contains(t, narrow, "  r0 AAABB...+B\n     #.......!\n", "what is too long goes on below")

	o.Name = "a"
	coloured := New(o).Text(Terminal{Width: 80, Colour: true})
	require.Contains(t, coloured, "\x1b[1;34;7mAAA\x1b[0m\x1b[2;33mBB\x1b[0m...+\x1b[2;33mB\x1b[0m")
	require.Equal(t, strings.Count(New(o).Text(Terminal{Width: 80}), "\n"), strings.Count(coloured, "\n"))
}

// NVLink domains are the cards of their rack.
func TestNVLinkDomainsAreDrawn(t *testing.T) {
	t.Parallel()
	var nodes []*corev1.Node
	for i := range 6 {
		nodes = append(nodes, node(fmt.Sprintf("n%d", i), 4, map[string]string{"rack": fmt.Sprintf("r%d", i/4), topology.CliqueLabel: fmt.Sprintf("u.%d", i/2)}))
	}
	job := []*corev1.Pod{podOf("a", "worker", 0, "n0", 4, "1"), podOf("a", "worker", 1, "n1", 4, "1"), podOf("a", "worker", 2, "n2", 2, "1")}
	text := func(labels ...string) string {
		return New(&Objects{Nodes: nodes, SchedulerLabels: labels, Pods: job}).Text(Terminal{Width: 80})
	}
	require.Equal(t, `6 nodes in 3 NVLink domains of 2 racks; 24 GPUs, 14 free.
The tiers are those of the nodes' labels.
NVLink domains are those of the label nvidia.com/gpu.clique.

r0 (rack): 4 nodes, 16 GPUs, 6 free
  u.0 AAAA AAAA
  u.1 AA.. ....

r1 (rack): 2 nodes, 8 GPUs, 8 free
  u.2 .... ....

A team/a: 3 workers; 3 nodes, 2 NVLink domains, 1 rack
. free
`, text("rack"))
	require.Contains(t, text(), "NVLink domains are distinguished (--topology-labels names such labels).\n")
}

// What could not be read is neither free nor taken.
func TestPartial(t *testing.T) {
	t.Parallel()
	o := small(podOf("a", "worker", 0, "g0", 3, "1"))
	o.Partial, o.Unread = true, []string{"pods of other namespaces (you have no permission to read them)"}
	text := New(o).Text(Terminal{Width: 100})
	require.Contains(t, text, "16 GPUs.\n")
	require.Contains(t, text, "Left out: pods of other namespaces (you have no permission to read them).")
	require.Contains(t, text, "r0 AAA????? ????????!\n  r1 (????????)\n")
	require.Contains(t, text, "? free, or others': pods that you have no permission to read\n")
	require.Contains(t, string(New(o).SVG()), `class="u"`)
}

func TestRows(t *testing.T) {
	t.Parallel()
	pod := func(owner int, gpus, milli int64) *Pod {
		return &Pod{owner: owner, Holds: Amounts{GPUs: gpus, MilliCPUs: milli}}
	}
	for name, tc := range map[string]struct {
		total Amounts
		pods  []*Pod
		want  []run
	}{
		"each GPU":               {Amounts{GPUs: 4}, []*Pod{pod(0, 1, 0), pod(0, 1, 0), pod(1, 1, 0)}, []run{{0, 1}, {0, 1}, {1, 1}, {free, 1}}},
		"more than there are":    {Amounts{GPUs: 2}, []*Pod{pod(0, 1, 0), pod(1, 4, 0), pod(2, 1, 0)}, []run{{0, 1}, {1, 1}}},
		"no GPUs asked for":      {Amounts{GPUs: 2}, []*Pod{pod(0, 0, 9)}, []run{{free, 2}}},
		"very many GPUs":         {Amounts{GPUs: 64}, []*Pod{pod(0, 16, 0), pod(0, 16, 0), pod(1, 0, 9)}, []run{{0, 4}, {free, 4}}},
		"eighths":                {Amounts{MilliCPUs: 8000}, []*Pod{pod(0, 0, 1000), pod(0, 0, 1000), pod(1, 0, 4000), pod(others, 0, 1000)}, []run{{0, 2}, {1, 4}, {others, 1}, {free, 1}}},
		"a job is always seen":   {Amounts{MilliCPUs: 8000}, []*Pod{pod(0, 0, 1), pod(1, 0, 0)}, []run{{0, 1}, {1, 1}, {free, 6}}},
		"others need not be":     {Amounts{MilliCPUs: 8000}, []*Pod{pod(others, 0, 100)}, []run{{free, 8}}},
		"more than eight jobs":   {Amounts{MilliCPUs: 1000}, []*Pod{pod(0, 0, 1), pod(1, 0, 1), pod(2, 0, 1), pod(3, 0, 1), pod(4, 0, 1), pod(5, 0, 1), pod(6, 0, 1), pod(7, 0, 1), pod(8, 0, 1)}, []run{{0, 1}, {1, 1}, {2, 1}, {3, 1}, {4, 1}, {5, 1}, {6, 1}, {7, 1}}},
		"nothing is known of it": {Amounts{}, []*Pod{pod(0, 0, 5)}, []run{{0, 8}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, (&Map{}).row(&Node{Total: tc.total, Pods: tc.pods}))
		})
	}
}

func TestSigns(t *testing.T) {
	t.Parallel()
	var pods []*corev1.Pod
	for i := range 70 {
		for j := range 1 + i%2 {
			pods = append(pods, podOf(fmt.Sprintf("j%02d", i), "worker", j, "c0", 0, "1"))
		}
	}
	o := small(pods...)
	o.Name = "j68"
	m := New(o)
	seen := map[string]int{}
	for _, job := range m.Jobs {
		require.Len(t, job.Sign, 1)
		seen[job.Sign]++
	}
	require.Equal(t, 70-len(signs), seen[shared], "the others have one of their own")
	require.Len(t, seen, len(signs)+1)
	require.NotEqual(t, shared, m.Jobs[m.chosen].Sign, "the chosen one too, small as it is")
}

func TestPageIsSafeAndWhole(t *testing.T) {
	t.Parallel()
	o := small(podOf("a<b>&", "worker", 0, "g0", 3, "1"))
	o.Unread = []string{"<script>"}
	m := New(o)
	var one, two bytes.Buffer
	require.NoError(t, m.HTML(&one))
	require.NoError(t, New(o).HTML(&two))
	require.Equal(t, one.String(), two.String(), "equal objects make equal bytes")
	require.Equal(t, m.SVG(), New(o).SVG())
	require.NotRegexp(t, `(src|href)="?http|@import|url\(["']?[^#"']`, one.String(), "it needs nothing else")
	require.Equal(t, 1, strings.Count(one.String(), "<script>"), "its own")
	require.Contains(t, one.String(), "team/a&lt;b&gt;&amp;")
	require.NoError(t, xml.Unmarshal(m.SVG(), new(struct{})))
	require.Contains(t, one.String(), "Seen at 2026-01-02 03:04:05 UTC.")

	text, err := json.Marshal(m)
	require.NoError(t, err)
	var back struct {
		Cluster struct {
			Domains []struct{ Domains []struct{ Nodes []Node } }
		}
	}
	require.NoError(t, json.Unmarshal(text, &back))
	g0 := back.Cluster.Domains[0].Domains[0].Nodes[0]
	require.Equal(t, Amounts{GPUs: 5, MilliCPUs: 127_000, Bytes: 1 << 40, Pods: 109}, *g0.Free)
	require.Equal(t, "a<b>&", g0.Pods[0].Job)
}

// A cluster without tiers is drawn too, in parts that a phone is wide enough for.
func TestFlat(t *testing.T) {
	t.Parallel()
	var nodes []*corev1.Node
	for i := range 50 {
		nodes = append(nodes, node(fmt.Sprintf("n%d", i), 1, nil))
	}
	m := New(&Objects{Nodes: nodes})
	require.Contains(t, m.Text(Terminal{Width: 200}), "all nodes are one level (--topology-labels names such labels)")
	blocks := m.blocks()
	require.Len(t, blocks, 1)
	require.Len(t, blocks[0].cards, 3)
	require.Equal(t, "all nodes 3/3", blocks[0].cards[2].name)
	for i := range blocks[0].cards {
		require.Less(t, blocks[0].cards[i].width(), 320.0)
	}
}
