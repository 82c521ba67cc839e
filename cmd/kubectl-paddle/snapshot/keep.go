// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
	topology "volcano.sh/apis/pkg/apis/topology/v1alpha1"

	"github.com/paddle-volcano/paddle-volcano/controller/keys"
)

// meta is what is kept of an object's metadata.
func meta(m *metav1.ObjectMeta) metav1.ObjectMeta {
	kept := metav1.ObjectMeta{
		Name: m.Name, Namespace: m.Namespace, UID: m.UID, CreationTimestamp: m.CreationTimestamp, DeletionTimestamp: m.DeletionTimestamp,
		Labels: m.Labels, Annotations: annotations(m.Annotations),
	}
	if owner := metav1.GetControllerOf(m); owner != nil {
		kept.OwnerReferences = []metav1.OwnerReference{
			{APIVersion: owner.APIVersion, Kind: owner.Kind, Name: owner.Name, UID: owner.UID, Controller: owner.Controller},
		}
	}
	return kept
}

// annotations are those that Volcano's scheduler or our plugin may read: theirs by domain.
func annotations(all map[string]string) map[string]string {
	kept := map[string]string{}
	for key, value := range all {
		domain, _, _ := strings.Cut(key, "/")
		switch domain {
		case "volcano.sh", "scheduling.volcano.sh", "scheduling.k8s.io", "topology.paddlepaddle.org", strings.TrimSuffix(keys.Prefix, "/"), keys.Resource:
			kept[key] = value
		}
	}
	if len(kept) == 0 {
		return nil
	}
	return kept
}

func node(n *corev1.Node) *corev1.Node {
	kept := &corev1.Node{
		ObjectMeta: meta(&n.ObjectMeta),
		Spec:       corev1.NodeSpec{Unschedulable: n.Spec.Unschedulable, Taints: n.Spec.Taints},
		Status:     corev1.NodeStatus{Capacity: n.Status.Capacity, Allocatable: n.Status.Allocatable},
	}
	for i := range n.Status.Conditions {
		c := &n.Status.Conditions[i]
		kept.Status.Conditions = append(kept.Status.Conditions, corev1.NodeCondition{Type: c.Type, Status: c.Status})
	}
	return kept
}

func namespace(n *corev1.Namespace) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: n.Name, UID: n.UID, Labels: n.Labels}}
}

func hyperNode(h *topology.HyperNode) *topology.HyperNode {
	return &topology.HyperNode{ObjectMeta: meta(&h.ObjectMeta), Spec: h.Spec}
}

func queue(q *vcscheduling.Queue) *vcscheduling.Queue {
	return &vcscheduling.Queue{ObjectMeta: meta(&q.ObjectMeta), Spec: q.Spec, Status: vcscheduling.QueueStatus{State: q.Status.State}}
}

func priorityClass(p *schedulingv1.PriorityClass) *schedulingv1.PriorityClass {
	return &schedulingv1.PriorityClass{
		ObjectMeta: metav1.ObjectMeta{Name: p.Name, UID: p.UID}, Value: p.Value, GlobalDefault: p.GlobalDefault, PreemptionPolicy: p.PreemptionPolicy,
	}
}

func quota(q *corev1.ResourceQuota) *corev1.ResourceQuota {
	return &corev1.ResourceQuota{ObjectMeta: meta(&q.ObjectMeta), Spec: q.Spec, Status: q.Status}
}

func podGroup(g *vcscheduling.PodGroup) *vcscheduling.PodGroup {
	return &vcscheduling.PodGroup{ObjectMeta: meta(&g.ObjectMeta), Spec: g.Spec, Status: g.Status}
}

func job(j *vcbatch.Job) *vcbatch.Job {
	kept := &vcbatch.Job{
		ObjectMeta: meta(&j.ObjectMeta),
		Spec: vcbatch.JobSpec{
			SchedulerName: j.Spec.SchedulerName, Queue: j.Spec.Queue, MinAvailable: j.Spec.MinAvailable, PriorityClassName: j.Spec.PriorityClassName,
			NetworkTopology: j.Spec.NetworkTopology,
		},
		Status: vcbatch.JobStatus{Version: j.Status.Version, RetryCount: j.Status.RetryCount},
	}
	for i := range j.Spec.Tasks {
		task := &j.Spec.Tasks[i]
		kept.Spec.Tasks = append(kept.Spec.Tasks, vcbatch.TaskSpec{
			Name: task.Name, Replicas: task.Replicas, MinAvailable: task.MinAvailable, TopologyPolicy: task.TopologyPolicy, PartitionPolicy: task.PartitionPolicy,
			Template: corev1.PodTemplateSpec{ObjectMeta: meta(&task.Template.ObjectMeta), Spec: PodSpec(&task.Template.Spec)},
		})
	}
	return kept
}
