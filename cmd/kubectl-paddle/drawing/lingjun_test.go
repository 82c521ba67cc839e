// SPDX-License-Identifier: Apache-2.0

package drawing

import (
	"fmt"
	"html"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/plan"
	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/simulation"
	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/test/placement/lingjun"
)

func node(name string, gpus int, labels map[string]string) *corev1.Node {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
	n.Status.Allocatable = corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("128"), corev1.ResourceMemory: resource.MustParse("1Ti"), corev1.ResourcePods: resource.MustParse("110"),
	}
	if gpus > 0 {
		n.Status.Allocatable["nvidia.com/gpu"] = *resource.NewQuantity(int64(gpus), resource.DecimalSI)
	}
	return n
}

// draw draws objects with the tiers that the scheduler has.
func draw(o *Objects) *Map {
	o.Tiers = simulation.Tiers(&o.Network)
	return New(o)
}

// podOf is a job's pod on a node, or no job's if the job has no name.
func podOf(job, role string, index int, on string, gpus int, cpu string) *corev1.Pod {
	name := fmt.Sprintf("%s-%s-%d", job, role, index)
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: name, Labels: map[string]string{}}, Spec: corev1.PodSpec{NodeName: on}}
	if job != "" {
		p.Labels[v1.JobNameLabel], p.Labels[v1.ResourceTypeLabel] = job, role
	}
	p.Spec.Containers = []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}}}}
	if gpus > 0 {
		p.Spec.Containers[0].Resources.Requests["nvidia.com/gpu"] = *resource.NewQuantity(int64(gpus), resource.DecimalSI)
	}
	return p
}

// lingjunObjects are the 847 hosts with jobs of 1 to 40 hosts on two thirds of them, and pods of others between them.
func lingjunObjects(t *testing.T) *Objects {
	t.Helper()
	o := &Objects{Namespace: "team", Name: "job-03", At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	var nodes []*corev1.Node
	for _, spec := range lingjun.Spec().Nodes {
		nodes = append(nodes, node(spec.Name, lingjun.GPUs, map[string]string{"t/rack": spec.Domains[0], "t/block": spec.Domains[1], "t/core": spec.Domains[2]}))
	}
	nodes[7].Spec.Unschedulable = true
	o.Network = plan.Network{Nodes: nodes, Labels: []string{"t/rack", "t/block", "t/core"}}
	var order []*Node
	for _, d := range draw(o).racks {
		order = append(order, d.Nodes...)
	}
	at := 0
	for j := 0; at+41 < len(order)*2/3; j++ {
		name := fmt.Sprintf("job-%02d", j)
		job := &v1.PaddleJob{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: name}}
		job.Spec.Worker = &v1.ResourceSpec{Replicas: int32(1 + j*j%40)}
		job.Status.Phase = v1.Running
		o.Jobs = append(o.Jobs, job)
		hosts := int(job.Spec.Worker.Replicas)
		if j%4 == 3 {
			job.Spec.Worker.Replicas *= 2
		}
		for i := range hosts {
			if j%4 == 3 {
				o.Pods = append(o.Pods, podOf(name, "worker", 2*i, order[at].Name, 3, "10"), podOf(name, "worker", 2*i+1, order[at].Name, 4, "10"))
			} else {
				o.Pods = append(o.Pods, podOf(name, "worker", i, order[at].Name, 8, "64"))
			}
			if j%5 == 0 {
				o.Pods = append(o.Pods, podOf(name, "ps", i, order[at].Name, 0, "20"))
			}
			at++
		}
	}
	for i := at; i < len(order); i += 5 {
		o.Pods = append(o.Pods, podOf("", "notebook", i, order[i].Name, 1+i%8, "4"))
	}
	waits := &v1.PaddleJob{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "waits"}}
	waits.Spec.Worker = &v1.ResourceSpec{Replicas: 900}
	waits.Status.Phase = v1.Pending
	o.Jobs = append(o.Jobs, waits)
	o.Groups = []*vcscheduling.PodGroup{{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "g", Labels: map[string]string{v1.JobNameLabel: "job-03"}},
		Status: vcscheduling.PodGroupStatus{Conditions: []vcscheduling.PodGroupCondition{{Type: "PaddleScheduled", Status: corev1.ConditionTrue,
			Message: "18 workers are on 9 nodes in 2 racks\na step of training sends 18 sizes of the model between nodes, 2 between racks"}}},
	}}
	return o
}

func TestLingjun(t *testing.T) {
	t.Parallel()
	m := draw(lingjunObjects(t))
	require.Contains(t, m.heading()[0], "847 nodes in 119 racks of 3 blocks of 1 core; 6776 GPUs, ")
	text := m.Text(80, false)
	require.Contains(t, text, "\nG6 / P10 (block): ")
	for i, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, "  ") && !strings.Contains(line, ": ") {
			require.LessOrEqual(t, len([]rune(line)), 80, "line %d: %s", i, line)
		}
	}
	page := m.HTML()
	for _, d := range m.racks {
		for _, n := range d.Nodes {
			require.Contains(t, page, "<title>"+html.EscapeString(n.details())+"</title>")
		}
	}
	require.Less(t, len(page), 768<<10, "the page is small enough to be opened at once and to be attached to a mail")
	t.Log(strconv.Itoa(len(m.Jobs)), "jobs")
}
