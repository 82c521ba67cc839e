// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/drawing"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/config"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/topology"
	simulated "github.com/paddle-volcano/paddle-volcano/test/sandbox/topology"
)

// seen returns the map as JSON, and the nodes of a job with the domains above each, the farthest first.
func (u user) seen(t *testing.T, job string, args ...string) (m *drawing.Map, on map[string][]string) {
	t.Helper()
	m, on = &drawing.Map{}, map[string][]string{}
	require.NoError(t, json.Unmarshal([]byte(u.run(t, append([]string{"map", "-o", "json"}, args...)...)), m))
	var walk func(d *drawing.Domain, above []string)
	walk = func(d *drawing.Domain, above []string) {
		for _, n := range d.Nodes {
			for _, p := range n.Pods {
				if p.Namespace == u.namespace && p.Job == job {
					on[p.Name] = append(above[:len(above):len(above)], n.Name)
				}
			}
		}
		for _, b := range d.Domains {
			walk(b, append(above[:len(above):len(above)], b.Name))
		}
	}
	walk(m.Cluster, nil)
	return m, on
}

func TestMap(t *testing.T) {
	t.Parallel()
	u := user{namespace: cluster.Namespace(t), stdin: manifest("resnet", 2, "nvidia.com/gpu: 2")}
	u.run(t, "submit", "-f", "-")
	u.awaitSaid(t, []string{"resnet has been running for"}, "why", "resnet")

	m, on := u.seen(t, "resnet")
	require.EqualValues(t, topology.SourceLabels, m.Source)
	require.Equal(t, []string{"block", "spine"}, m.Tiers, "of the labels of the scheduler's ConfigMap, those that nodes have")
	require.Empty(t, m.Unread)
	require.Len(t, on, 2)
	for pod, path := range on {
		live, err := cluster.Kube.CoreV1().Pods(u.namespace).Get(t.Context(), pod, metav1.GetOptions{})
		require.NoError(t, err)
		node, err := cluster.Kube.CoreV1().Nodes().Get(t.Context(), live.Spec.NodeName, metav1.GetOptions{})
		require.NoError(t, err)
		require.Equal(t, []string{node.Labels[simulated.LabelBlock], node.Labels[simulated.LabelRack], node.Name}, path)
	}
	_, on = u.seen(t, "resnet", "--topology-labels", simulated.LabelRack)
	for _, path := range on {
		require.Len(t, path, 2, "only the tier that was asked for")
	}

	text := u.run(t, "map", "resnet")
	require.Regexp(t, `^16 nodes in 4 blocks of 2 spines; 32 GPUs, \d+ free\.\n`, text)
	require.Regexp(t, `(?m)^[A-Za-z0-9] `+u.namespace+`/resnet: Running; 2 workers are on `, text)
	require.Contains(t, text, "2 workers are on ", "the scheduler's own words")
	require.NotContains(t, text, "\x1b", "no colours where there is no terminal")
	require.NoError(t, xml.Unmarshal([]byte(u.run(t, "map", "-o", "svg")), new(struct{})))
	require.Contains(t, u.run(t, "map", "-o", "html"), "<svg")
	require.Contains(t, u.run(t, "map", "-o", "yaml"), "source: labels")

	for code, args := range map[int][]string{2: {"map", "-o", "png"}, 3: {"map", "gone"}} {
		_, errOut, got := u.paddle(t.Context(), args...)
		require.Equal(t, code, got, errOut)
	}
}

// Who may read nodes, and pods in one namespace alone, sees these, and what cannot be known.
func TestMapWithFewPermissions(t *testing.T) {
	t.Parallel()
	u := user{namespace: cluster.Namespace(t), stdin: manifest("mine", 1, "cpu: 1")}
	u.run(t, "submit", "-f", "-")
	u.awaitSaid(t, []string{"mine has been running for"}, "why", "mine")
	reader := user{namespace: u.namespace, as: []string{"--as", u.namespace}}
	_, errOut, code := reader.paddle(t.Context(), "map")
	require.Equal(t, 1, code, "no nodes, no map")
	require.Contains(t, errOut, "nodes is forbidden")

	letReadAll(t, u.namespace, map[string][]string{"": {"nodes"}})
	letRead(t, u.namespace, u.namespace, "", "pods")
	text := reader.awaitSaid(t, []string{
		"Skipped: HyperNodes (you have no permission to read them).", "Skipped: pods of other namespaces (you have no permission to read them).",
		"Skipped: PaddleJobs (you have no permission to read them).", "--topology-labels names such labels", "? free, or others'", "/mine: 1 pod on 1 node\n",
	}, "map", "--width", "200")
	require.NotContains(t, text, " free.", "what is free is not known")
	m, on := reader.seen(t, "mine")
	require.Nil(t, m.Cluster.Free)
	require.Len(t, on, 1)
}

// The map counts the same resources as GPUs as the scheduler's plugin: its reference lists them.
func TestAccelerators(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "deploy", "docs", "reference", "plugin-arguments.md"))
	require.NoError(t, err)
	_, row, found := strings.Cut(string(text), "| `accelerators` |")
	require.True(t, found)
	row, _, _ = strings.Cut(row, "\n")
	var names []string
	for _, name := range config.Default().Accelerators {
		names = append(names, "`"+name+"`")
	}
	require.Contains(t, row, "| "+strings.Join(names, ", ")+" |")
}

func TestListReportsQueuePositions(t *testing.T) {
	t.Parallel()
	u := user{namespace: cluster.Namespace(t)}
	queue := &vcscheduling.Queue{ObjectMeta: metav1.ObjectMeta{Name: u.namespace}, Spec: vcscheduling.QueueSpec{Weight: 1}}
	_, err := cluster.Volcano.SchedulingV1beta1().Queues().Create(t.Context(), queue, metav1.CreateOptions{})
	require.NoError(t, err)
	class := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: u.namespace}, Value: 7}
	_, err = cluster.Kube.SchedulingV1().PriorityClasses().Create(t.Context(), class, metav1.CreateOptions{})
	require.NoError(t, err)
	awaitRow := func(u user, row string) {
		t.Helper()
		cluster.Await(t, "list to have the row "+row, func(ctx context.Context) error {
			out, errOut, _ := u.paddle(ctx, "list", "-o", "wide")
			if !regexp.MustCompile("(?m)^" + row).MatchString(out) {
				return fmt.Errorf("it has %s%s", out, errOut)
			}
			return nil
		})
	}
	submit := func(name, policy string) {
		// More than the cluster has: it is not admitted, and uses no capacity of the queue that other tests need.
		u.stdin = manifest(name, 1, "nvidia.com/gpu: 900", "  schedulingPolicy: {queue: "+u.namespace+policy+"}\n")
		u.run(t, "submit", "-f", "-")
	}
	row := func(name, ahead string) string {
		return name + ` +Pending +Single +<none> +0/1 +\S+ +` + u.namespace + ` +\S+ +<none> +` + ahead + " "
	}
	submit("first", "") // also by name, which decides within a second
	awaitRow(u, row("first", "0"))
	submit("second", "")
	awaitRow(u, row("second", "1"))
	submit("urgent", ", priorityClass: "+u.namespace)
	awaitRow(u, row("urgent", "0"))
	awaitRow(u, row("first", "1"))
	awaitRow(u, row("second", "2"))

	mate := user{namespace: u.namespace, as: []string{"--as", "colleague"}}
	letRead(t, u.namespace, "colleague", "batch.paddlepaddle.org", "paddlejobs")
	letRead(t, u.namespace, "colleague", "scheduling.volcano.sh", "podgroups")
	awaitRow(mate, row("second", `1\+`)) // by age alone
	_, errOut, _ := mate.paddle(t.Context(), "list", "-o", "wide")
	require.Contains(t, errOut, "Skipped: PodGroups of other namespaces (you have no permission to read them).")
	require.Contains(t, errOut, "Skipped: PriorityClasses, so that queue positions depend on age alone (you have no permission to read them).")
	u.delete(t, "first", "second", "urgent")
}
