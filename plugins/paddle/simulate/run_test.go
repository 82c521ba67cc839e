// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	scheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
	topology "volcano.sh/apis/pkg/apis/topology/v1alpha1"
)

const configurationText = `actions: "%s"
tiers:
- plugins:
  - name: priority
  - name: gang
    enablePreemptable: false
  - name: paddle
    arguments: {topology-labels: rack}
  - name: conformance
- plugins:
  - name: overcommit
  - name: predicates
  - name: proportion
  - name: nodeorder
`

// world returns a cluster with an open queue, and nodes that are written as rack: node=GPUs ...
func world(racks ...string) *Cluster {
	c := &Cluster{
		Configuration: fmt.Sprintf(configurationText, "enqueue, allocate, backfill"), Coming: map[string][]*corev1.Pod{},
		Queues: []*scheduling.Queue{{
			ObjectMeta: metav1.ObjectMeta{Name: "default", UID: "default"}, Spec: scheduling.QueueSpec{Weight: 1},
			Status: scheduling.QueueStatus{State: scheduling.QueueStateOpen},
		}},
	}
	for _, line := range racks {
		rack, nodes, _ := strings.Cut(line, ": ")
		for _, text := range strings.Fields(nodes) {
			name, gpus, _ := strings.Cut(text, "=")
			list := corev1.ResourceList{
				"nvidia.com/gpu": resource.MustParse(gpus), corev1.ResourcePods: resource.MustParse("110"), corev1.ResourceCPU: resource.MustParse("64"),
			}
			c.Nodes = append(c.Nodes, &corev1.Node{
				ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), Labels: map[string]string{"rack": rack, corev1.LabelHostname: name}},
				Status: corev1.NodeStatus{Capacity: list, Allocatable: list, Conditions: []corev1.NodeCondition{
					{Type: corev1.NodeReady, Status: corev1.ConditionTrue},
				}},
			})
		}
	}
	return c
}

// job adds a ring of workers with one GPU each, whose pods are made once it is admitted. It is as old as its number says.
func (c *Cluster) job(name string, workers, age int) *Cluster {
	requests := corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("1")}
	least := corev1.ResourceList{"nvidia.com/gpu": *resource.NewQuantity(int64(workers), resource.DecimalSI)}
	born := metav1.Unix(int64(10_000-age), 0)
	group := &scheduling.PodGroup{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: "ns", UID: types.UID(name), CreationTimestamp: born, Labels: map[string]string{"batch.paddlepaddle.org/job-name": name},
		},
		Spec: scheduling.PodGroupSpec{
			MinMember: int32(workers), MinTaskMember: map[string]int32{"worker": int32(workers)}, Queue: "default", MinResources: &least,
		},
		Status: scheduling.PodGroupStatus{Phase: scheduling.PodGroupPending},
	}
	c.PodGroups = append(c.PodGroups, group)
	for i := range workers {
		pod := fmt.Sprintf("%s-worker-%d", name, i)
		c.Coming[Key(group)] = append(c.Coming[Key(group)], &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Name: pod, Namespace: "ns", UID: types.UID(pod), CreationTimestamp: born, Labels: map[string]string{"batch.paddlepaddle.org/job-name": name},
				Annotations: map[string]string{
					scheduling.KubeGroupNameAnnotationKey: name, "volcano.sh/task-spec": "worker", "volcano.sh/task-index": strconv.Itoa(i),
					"volcano.sh/template-uid": name + "-worker",
				},
			},
			Spec:   corev1.PodSpec{SchedulerName: "volcano", Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: requests}}}},
			Status: corev1.PodStatus{Phase: corev1.PodPending},
		})
	}
	return c
}

// runs lets a job's pods run on nodes.
func (c *Cluster) runs(name string, nodes ...string) *Cluster {
	for i, pod := range c.Coming["ns/"+name] {
		pod.Spec.NodeName, pod.Status.Phase = nodes[i%len(nodes)], corev1.PodRunning
		c.Pods = append(c.Pods, pod)
	}
	delete(c.Coming, "ns/"+name)
	for _, group := range c.PodGroups {
		if group.Name == name {
			group.Status.Phase = scheduling.PodGroupRunning
		}
	}
	return c
}

func (r *Result) placed(group string) (reason, message string) {
	for _, condition := range r.Groups[group].Status.Conditions {
		if condition.Type == "PaddleScheduled" {
			reason, message = condition.Reason, condition.Message
		}
	}
	return reason, message
}

// The gang goes to the rack that holds it, though the first rack has more free nodes.
//
//	    r1              r2
//	n1  n2  n3       n4     n5
//	1   1   1        2      2    GPUs
func TestRun_PlacesAGang(t *testing.T) {
	c := world("r1: n1=1 n2=1 n3=1", "r2: n4=2 n5=2").job("ring", 4, 0)
	for range 3 { // and always the same
		result, err := Run(c, "ns/ring")
		require.NoError(t, err)
		require.Equal(t, map[string]string{"ring-worker-0": "n4", "ring-worker-1": "n4", "ring-worker-2": "n5", "ring-worker-3": "n5"}, result.Bound["ns/ring"])
		reason, message := result.placed("ns/ring")
		require.Equal(t, "Placed", reason)
		require.Contains(t, message, "4 workers are on 2 nodes of rack r2\na step of training sends 3 times the model between nodes")
		placed := result.Placements["ns/ring"]
		tiers := placed.Tiers
		require.Equal(t, "node", tiers[0].Name)
		require.InDelta(t, 3, tiers[0].Crossing, 0)
		require.Equal(t, map[string]string{"n4": "r2", "n5": "r2"}, placed.Domains)
		require.Zero(t, tiers[1].Crossing)
		require.Empty(t, result.Evicted)
		require.Empty(t, result.Notes)
	}
}

// The older of two jobs that wait comes first, and the younger one's report says why it waits; the cluster's objects stay as they are.
//
//	    r1
//	n1      n2
//	2 GPUs  2 GPUs, of which one is used
func TestRun_OlderJobsFirst(t *testing.T) {
	c := world("r1: n1=2 n2=2").job("runs", 1, 9).runs("runs", "n2").job("old", 2, 5).job("young", 2, 0)
	result, err := Run(c, "ns/young")
	require.NoError(t, err)
	require.Equal(t, map[string]string{"old-worker-0": "n1", "old-worker-1": "n1"}, result.Bound["ns/old"])
	require.Empty(t, result.Bound["ns/young"])
	require.NotContains(t, result.Bound, "ns/runs")
	_, message := result.placed("ns/young")
	require.NotEmpty(t, message)
	require.Equal(t, scheduling.PodGroupPending, c.PodGroups[2].Status.Phase)
	require.Empty(t, c.Coming["ns/young"][0].Spec.NodeName)
}

// HyperNodes go before labels, and select nodes by name or by label.
func TestRun_HyperNodes(t *testing.T) {
	c := world("r1: n1=1 n2=1", "r2: n3=1 n4=1").job("ring", 2, 0)
	member := func(selector topology.MemberSelector) []topology.MemberSpec {
		return []topology.MemberSpec{{Type: topology.MemberTypeNode, Selector: selector}}
	}
	exact := func(name string) topology.MemberSelector {
		return topology.MemberSelector{ExactMatch: &topology.ExactMatch{Name: name}}
	}
	c.Nodes[0].Labels["rack"] = "elsewhere"
	c.HyperNodes = []*topology.HyperNode{
		{ObjectMeta: metav1.ObjectMeta{Name: "named"}, Spec: topology.HyperNodeSpec{Tier: 1, Members: append(member(exact("n2")), member(exact("n3"))...)}},
		{ObjectMeta: metav1.ObjectMeta{Name: "labelled"}, Spec: topology.HyperNodeSpec{Tier: 1, Members: member(topology.MemberSelector{
			LabelMatch: &metav1.LabelSelector{MatchLabels: map[string]string{"rack": "elsewhere"}},
		})}},
	}
	c.PodGroups[0].Spec.NetworkTopology = &scheduling.NetworkTopologySpec{Mode: scheduling.HardNetworkTopologyMode, HighestTierAllowed: ptr.To(1)}
	result, err := Run(c, "ns/ring")
	require.NoError(t, err)
	require.Equal(t, map[string]string{"ring-worker-0": "n2", "ring-worker-1": "n3"}, result.Bound["ns/ring"])
	require.Equal(t, "named", result.Placements["ns/ring"].Domains["n2"])
}

func TestRun_ReportsEvictions(t *testing.T) {
	c := world("r1: n1=2").job("low", 2, 9).runs("low", "n1").job("high", 2, 0)
	c.Configuration = strings.Replace(fmt.Sprintf(configurationText, "enqueue, allocate, preempt"), "  - name: overcommit\n", "", 1)
	c.PodGroups[1].Spec.PriorityClassName = "high"
	c.PodGroups[1].Spec.MinResources = nil
	c.PriorityClasses = classes("high", 1000)
	for _, pod := range c.Coming["ns/high"] {
		pod.Spec.Priority = &c.PriorityClasses[0].Value
	}
	result, err := Run(c, "ns/high")
	require.NoError(t, err)
	require.Len(t, result.Evicted, 2)
	require.Equal(t, "ns/low-worker-0", Key(result.Evicted[0]))
	require.Equal(t, map[string]string{"high-worker-0": "n1", "high-worker-1": "n1"}, result.Bound["ns/high"])
}

// Without the plugin Volcano throws dice among nodes that score the same; here the first by name is taken.
func TestRun_BreaksTiesByNodeName(t *testing.T) {
	c := world("r1: n6=1 n4=1 n2=1 n1=1 n3=1 n5=1").job("ring", 3, 0)
	c.Configuration = "actions: \"enqueue, allocate\"\ntiers:\n- plugins:\n  - name: gang\n  - name: predicates\n"
	result, err := Run(c, "ns/ring")
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"n1", "n2", "n3"}, slices.Collect(maps.Values(result.Bound["ns/ring"])))
}

func TestRun_NotesOmittedPlugins(t *testing.T) {
	c := world("r1: n1=2").job("ring", 2, 0)
	c.Configuration = "actions: \"enqueue, allocate\"\ntiers:\n- plugins:\n  - name: gang\n  - name: extender\n    arguments: {extender.urlPrefix: \"http://127.0.0.1:1\"}\n  - name: unknown\n  - name: predicates\n"
	result, err := Run(c, "ns/ring")
	require.NoError(t, err)
	require.Equal(t, []string{
		"the scheduler's plugin extender is left out: it calls an external server",
		"the scheduler's plugin unknown is left out: it is not known here",
		"the scheduler's configuration does not name the plugin paddle: jobs are placed pod by pod, and no reason is reported for one that waits",
	}, result.Notes)
	require.Len(t, result.Bound["ns/ring"], 2)
	require.Nil(t, pflag.Lookup("percentage-nodes-to-find"), "the scheduler's flags are none of the program's")

	c.Configuration = "actions: \"dance\""
	_, err = Run(c, "ns/ring")
	require.ErrorContains(t, err, "read the scheduler's configuration")
	_, err = Run(c, "ns/none")
	require.ErrorContains(t, err, "no PodGroup ns/none")
}

func classes(name string, value int32) []*schedulingv1.PriorityClass {
	return []*schedulingv1.PriorityClass{{ObjectMeta: metav1.ObjectMeta{Name: name}, Value: value}}
}
