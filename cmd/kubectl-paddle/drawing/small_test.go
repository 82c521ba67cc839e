// SPDX-License-Identifier: Apache-2.0

package drawing

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/plan"
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
	return &Objects{Network: plan.Network{Nodes: nodes, Labels: []string{"rack", "block"}}, Pods: pods, Namespace: "team", At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
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

A team/a: Running; 2 pods on 2 nodes
B team/b: 3 pods on 2 nodes
  team/waits: Pending
. free
# others: pods that are no PaddleJob's
! a node that takes no pods: not ready, or cordoned
( ) a node without GPUs: each cell is an eighth of its CPUs
+ jobs with pods without GPUs on this node
`, draw(o).Text(80, false))

	o.Name = "over"
	require.Contains(t, draw(o).Text(80, false), "team/over: Completed", "a job that is selected is listed in any case")
	narrow := draw(o).Text(20, false)
	require.Contains(t, narrow, "  r0 AAABB...+B\n     #.......!\n", "what is too long goes on below")

	o.Name = "a"
	coloured := draw(o).Text(80, true)
	require.Contains(t, coloured, "\x1b[1;34;7mAAA\x1b[0m\x1b[2;33mBB\x1b[0m...+\x1b[2;33mB\x1b[0m")
	require.Equal(t, strings.Count(draw(o).Text(80, false), "\n"), strings.Count(coloured, "\n"))
}

// NVLink domains are the lines of their rack.
func TestNVLinkDomainsAreDrawn(t *testing.T) {
	t.Parallel()
	var nodes []*corev1.Node
	for i := range 6 {
		nodes = append(nodes, node(fmt.Sprintf("n%d", i), 4, map[string]string{"rack": fmt.Sprintf("r%d", i/4), topology.CliqueLabel: fmt.Sprintf("u.%d", i/2)}))
	}
	job := []*corev1.Pod{podOf("a", "worker", 0, "n0", 4, "1"), podOf("a", "worker", 1, "n1", 4, "1"), podOf("a", "worker", 2, "n2", 2, "1")}
	text := func(labels ...string) string {
		return draw(&Objects{Network: plan.Network{Nodes: nodes, SchedulerLabels: labels}, Pods: job}).Text(80, false)
	}
	require.Equal(t, `6 nodes in 3 NVLink domains of 2 racks; 24 GPUs, 14 free.
The tiers are those of the nodes' labels.
NVLink domains are those of the label nvidia.com/gpu.clique.

r0 (rack): 4 nodes, 16 GPUs, 6 free
  u.0 AAAA AAAA
  u.1 AA.. ....

r1 (rack): 2 nodes, 8 GPUs, 8 free
  u.2 .... ....

A team/a: 3 pods on 3 nodes
. free
`, text("rack"))
	require.Contains(t, text(), "no labels are known that name racks (--topology-labels names such labels).\nNVLink domains are those of")
}

// What could not be read is neither free nor taken.
func TestPartial(t *testing.T) {
	t.Parallel()
	o := small(podOf("a", "worker", 0, "g0", 3, "1"))
	o.Partial, o.Unread = true, []string{"pods of other namespaces (you have no permission to read them)"}
	text := draw(o).Text(100, false)
	require.Contains(t, text, "16 GPUs.\n")
	require.Contains(t, text, "Skipped: pods of other namespaces (you have no permission to read them).")
	require.Contains(t, text, "r0 AAA????? ????????!\n  r1 (????????)\n")
	require.Contains(t, text, "? free, or others': pods that you have no permission to read\n")
}

func TestCells(t *testing.T) {
	t.Parallel()
	var jobs []*Job
	for i := range 9 {
		jobs = append(jobs, &Job{Sign: signs[i:][:1], at: i, pods: 1})
	}
	pod := func(owner *Job, gpus, milli int64) *Pod {
		return &Pod{owner: owner, Holds: Amounts{GPUs: gpus, MilliCPUs: milli}}
	}
	a, b, c := jobs[0], jobs[1], jobs[2]
	var each []*Pod
	for _, job := range jobs {
		each = append(each, pod(job, 0, 1))
	}
	for name, tc := range map[string]struct {
		total Amounts
		pods  []*Pod
		want  string
	}{
		"each GPU":               {Amounts{GPUs: 4}, []*Pod{pod(a, 1, 0), pod(a, 1, 0), pod(b, 1, 0)}, "AAB."},
		"more than there are":    {Amounts{GPUs: 2}, []*Pod{pod(a, 1, 0), pod(b, 4, 0), pod(c, 1, 0)}, "AB"},
		"no GPUs requested":      {Amounts{GPUs: 2}, []*Pod{pod(a, 0, 9)}, ".."},
		"eighths":                {Amounts{MilliCPUs: 8000}, []*Pod{pod(a, 0, 1000), pod(a, 0, 1000), pod(b, 0, 4000), pod(others, 0, 1000)}, "AABBBB#."},
		"a job is always seen":   {Amounts{MilliCPUs: 8000}, []*Pod{pod(a, 0, 1), pod(b, 0, 0)}, "AB......"},
		"others need not be":     {Amounts{MilliCPUs: 8000}, []*Pod{pod(others, 0, 100)}, "........"},
		"more than eight jobs":   {Amounts{MilliCPUs: 1000}, each, "ABCDEFGH"},
		"nothing is known of it": {Amounts{}, []*Pod{pod(a, 0, 5)}, "AAAAAAAA"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got strings.Builder
			for _, owner := range (&Node{Total: tc.total, Free: &Amounts{}, Pods: tc.pods}).cells() {
				got.WriteString(owner.Sign)
			}
			require.Equal(t, tc.want, got.String())
		})
	}
}

func TestSigns(t *testing.T) {
	t.Parallel()
	var pods []*corev1.Pod
	for i := range 70 {
		pods = append(pods, podOf(fmt.Sprintf("j%02d", i), "worker", 0, "c0", 0, "1"))
	}
	seen := map[string]int{}
	for _, job := range draw(small(pods...)).Jobs {
		require.Len(t, job.Sign, 1)
		seen[job.Sign]++
	}
	require.Equal(t, 70-62, seen["*"], "the others have one of their own")
	require.Len(t, seen, 63)
}

func TestPageIsSafeAndWhole(t *testing.T) {
	t.Parallel()
	o := small(podOf("a<b>&", "worker", 0, "g0", 3, "1"))
	o.Unread = []string{"<script>"}
	m := draw(o)
	require.Equal(t, m.HTML(), draw(o).HTML(), "equal objects make equal bytes")
	require.NotRegexp(t, `(src|href)="?http|@import|url\(|<script`, m.HTML(), "it needs nothing else")
	require.Contains(t, m.HTML(), "team/a&lt;b&gt;&amp;")
	require.NoError(t, xml.Unmarshal([]byte(m.SVG()), new(struct{})))
	require.Contains(t, m.HTML(), `<g class="c0"><title>g0
team/a&lt;b&gt;&amp;-worker-0: 3 GPUs</title><rect x="56" y="106" width="24" height="17"/><text x="56" y="119" textLength="24">AAA</text></g>
<g class="none"><title>g0
team/a&lt;b&gt;&amp;-worker-0: 3 GPUs</title><rect x="80" y="106" width="40" height="17"/><text x="80" y="119" textLength="40">.....</text></g>
`, "side by side, from the column of the text")
	require.Regexp(t, `<g class="c0"><rect x="16" y="(\d+)" width="8" height="17"/><text x="16" y="\d+" textLength="8">A</text></g>
<g class="none"><text x="32" y="\d+" textLength="\d+">team/a&lt;b&gt;&amp;: 1 pod`, m.SVG(), "the legend")
	o.Jobs, o.Name = []*v1.PaddleJob{{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "z"}}}, "z"
	require.Contains(t, draw(o).SVG(), `<g class="c0 dim"><title>`, "another job is highlighted")
	require.Contains(t, m.HTML(), "Seen at 2026-01-02 03:04:05 UTC.")

	text, err := json.Marshal(m)
	require.NoError(t, err)
	var back struct {
		Cluster struct {
			Domains []struct{ Domains []struct{ Nodes []Node } }
		}
	}
	require.NoError(t, json.Unmarshal(text, &back))
	g0 := back.Cluster.Domains[0].Domains[0].Nodes[0]
	require.Equal(t, Amounts{GPUs: 5, MilliCPUs: 127_000}, *g0.Free)
	require.Equal(t, "a<b>&", g0.Pods[0].Job)
}

// A cluster without tiers is drawn too.
func TestFlat(t *testing.T) {
	t.Parallel()
	var nodes []*corev1.Node
	for i := range 150 {
		nodes = append(nodes, node(fmt.Sprintf("n%d", i), 1, nil))
	}
	m := draw(&Objects{Network: plan.Network{Nodes: nodes}})
	require.NoError(t, xml.Unmarshal([]byte(m.SVG()), new(struct{})))
	require.Contains(t, m.Text(200, false), "(--topology-labels names such labels).\n\n  all nodes . . .")
}
