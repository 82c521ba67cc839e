// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	scheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
)

// bareNode is a node of a rack with so many CPUs and GPUs.
func bareNode(name, rack, cpus, gpus string) *corev1.Node {
	return marked(node(name, resources{"cpu": cpus, "memory": "512Gi", "nvidia.com/gpu": gpus}), "rack", rack)
}

// oneServer is a job of one server with 2 CPUs and n workers with a GPU.
func oneServer(n int) (*scheduling.PodGroup, []*corev1.Pod) {
	group := podGroup("j", int32(n+1), map[string]int32{"ps": 1, "worker": int32(n)})
	return group, append(pods("j", "ps", 1, onCPU), pods("j", "worker", n, onGPU)...)
}

// The GPUs are in one rack, and only the other one has capacity for a server. Required waits until a server fits beside the
// workers; Preferred and None do not.
//
//	  r1           r2
//	  n1           n2         n3 (comes later)
//	8 CPUs    4 CPUs, 4 GPUs    2 CPUs
func TestColocation(t *testing.T) {
	for _, test := range []struct {
		name, arguments, annotation string
		waits                       bool
	}{
		{name: "annotation", annotation: "Required", waits: true},
		{name: "argument", arguments: "      colocation: Required\n", waits: true},
		{name: "annotation above argument", arguments: "      colocation: Required\n", annotation: "Preferred"},
		{name: "None above argument", arguments: "      colocation: Required\n", annotation: "None"},
		{name: "Required above argument", arguments: "      colocation: None\n", annotation: "Required", waits: true},
		{name: "neither"},
		{name: "whole cluster is one", arguments: "      colocation-tier: 2\n", annotation: "Required"},
	} {
		t.Run(test.name, func(t *testing.T) {
			group, all := oneServer(4)
			if test.annotation != "" {
				colocated(group, test.annotation)
			}
			c := newCluster(t, labelled(test.arguments), bareNode("n1", "r1", "8", "0"), bareNode("n2", "r2", "4", "4"), group, all)
			c.session()
			if !test.waits {
				require.Len(t, c.bound(), 5)
				require.Equal(t, "n1", c.nodes()["j-ps-0"])
				return
			}
			require.Empty(t, c.bound())
			require.Contains(t, c.condition("j").Message, "colocation Required")
			plugins, volcanos := c.condition("j").Message, c.message("j")
			c.sessions(3)
			require.Equal(t, []string{plugins, volcanos}, []string{c.condition("j").Message, c.message("j")}, "the words stay")
			c.add(bareNode("n3", "r2", "2", "0"))
			c.session()
			require.Equal(t, map[string]int{"n2": 4, "n3": 1}, c.count("j"))
		})
	}
}

// With tier 0 it is the node: the servers' nodes have 3 GPUs, and the fourth worker has none beside a server.
//
//	           r1
//	 n1      n2         n3
//	2 GPUs  1 GPU   4 CPUs, 4 GPUs, of which 3 CPUs are used
func TestColocationOnTheNode(t *testing.T) {
	objects := func(annotation string, workers int) []any {
		group := colocated(podGroup("j", int32(2+workers), map[string]int32{"ps": 2, "worker": int32(workers)}), annotation)
		others := running(plainPods("o", "task", 1, resources{"cpu": "3"}), "n3")
		return []any{
			bareNode("n1", "r1", "4", "2"), bareNode("n2", "r1", "4", "1"), bareNode("n3", "r1", "4", "4"),
			started(podGroup("o", 1, nil)), others, group, pods("j", "ps", 2, onCPU), pods("j", "worker", workers, onGPU),
		}
	}
	onNode := labelled("      colocation-tier: 0\n")
	c := newCluster(t, onNode, objects("Required", 4)...)
	c.sessions(2, "o-task-0")
	require.Contains(t, c.condition("j").Message, "colocation Required")

	c = newCluster(t, onNode, objects("Preferred", 4)...)
	c.session()
	require.Len(t, c.bound(), 7)

	c = newCluster(t, onNode, objects("Required", 3)...)
	c.session()
	require.Equal(t, map[string]int{"n1": 3, "n2": 2}, c.count("j"))
}

// Each worker names its node, so the plan has no node that both permit. That proves nothing: pod by pod, each is placed beside
// a server.
//
//	       r1
//	   n1        n2
//	3 CPUs, 1 GPU each
func TestColocationOfWorkersThatNameTheirNodes(t *testing.T) {
	workers := pods("j", "worker", 2, onGPU)
	for i, node := range []string{"n1", "n2"} {
		onlyOn(workers[i:i+1], corev1.LabelHostname, node)
	}
	onNode := labelled("      colocation-tier: 0\n")
	c := newCluster(t, onNode, bareNode("n1", "r1", "3", "1"), bareNode("n2", "r1", "3", "1"),
		colocated(podGroup("j", 4, map[string]int32{"ps": 2, "worker": 2}), "Required"), pods("j", "ps", 2, onCPU), workers)
	c.sessionByPod(onNode)
	require.Equal(t, map[string]int{"n1": 2, "n2": 2}, c.count("j"))
}

// None leaves the traffic out of account: the workers fill one node and the server a node without GPUs, in the other rack.
//
//	         r1                      r2
//	     n1           n2             n3
//	3 CPUs, 2 GPUs  1 CPU, 1 GPU    2 CPUs
func TestColocationNoneSparesLaterJobs(t *testing.T) {
	for annotation, want := range map[string]map[string]string{
		"None":      {"j-ps-0": "n3", "j-worker-0": "n1", "j-worker-1": "n1"},
		"Preferred": {"j-ps-0": "n1", "j-worker-0": "n1", "j-worker-1": "n2"},
	} {
		t.Run(annotation, func(t *testing.T) {
			group, all := oneServer(2)
			c := newCluster(t, labelled(""), bareNode("n1", "r1", "3", "2"), bareNode("n2", "r1", "1", "1"),
				bareNode("n3", "r2", "2", "0"), colocated(group, annotation), all)
			c.session()
			require.Equal(t, want, c.nodes())
		})
	}
}

// A worker that comes later goes where servers are, or waits.
//
//	    r1              r2
//	   n1              n2
//	8 CPUs, 2 GPUs   8 CPUs, 2 GPUs
//	[ps 0][w 0][w 1]
func TestColocationOfAWorkerThatComesLater(t *testing.T) {
	all := pods("j", "worker", 3, onGPU)
	c := newCluster(t, labelled(""), bareNode("n1", "r1", "8", "2"), bareNode("n2", "r2", "8", "2"),
		started(colocated(podGroup("j", 3, map[string]int32{"ps": 1, "worker": 2}), "Required")),
		running(pods("j", "ps", 1, onCPU), "n1"), running(all[:2], "n1"), all[2])
	c.sessions(2, "j-ps-0", "j-worker-0", "j-worker-1")
	c.add(bareNode("n3", "r1", "1", "1"))
	c.session()
	require.Equal(t, "n3", c.nodes()["j-worker-2"])
}
