// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
	topology "volcano.sh/apis/pkg/apis/topology/v1alpha1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
)

// meta returns what is kept of an object's metadata.
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

// annotations returns those that Volcano's scheduler or our plugin may read: theirs by domain.
func annotations(all map[string]string) map[string]string {
	kept := map[string]string{}
	for key, value := range all {
		domain, _, _ := strings.Cut(key, "/")
		switch domain {
		case "volcano.sh", "scheduling.volcano.sh", "scheduling.k8s.io", "topology.paddlepaddle.org", strings.TrimSuffix(v1.Prefix, "/"), v1.ResourceAnnotation:
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

func pod(p *corev1.Pod) *corev1.Pod {
	kept := &corev1.Pod{
		ObjectMeta: meta(&p.ObjectMeta), Spec: PodSpec(&p.Spec),
		Status: corev1.PodStatus{Phase: p.Status.Phase, NominatedNodeName: p.Status.NominatedNodeName},
	}
	for i := range p.Status.Conditions {
		c := &p.Status.Conditions[i]
		kept.Status.Conditions = append(kept.Status.Conditions, corev1.PodCondition{Type: c.Type, Status: c.Status, Reason: c.Reason})
	}
	return kept
}

// PodSpec returns the fields that decide where a pod may be placed and what it takes there.
func PodSpec(s *corev1.PodSpec) corev1.PodSpec {
	return corev1.PodSpec{
		NodeName: s.NodeName, SchedulerName: s.SchedulerName, NodeSelector: s.NodeSelector, Affinity: s.Affinity, Tolerations: s.Tolerations,
		TopologySpreadConstraints: s.TopologySpreadConstraints, SchedulingGates: s.SchedulingGates, HostNetwork: s.HostNetwork,
		Priority: s.Priority, PriorityClassName: s.PriorityClassName, PreemptionPolicy: s.PreemptionPolicy, Overhead: s.Overhead,
		Resources: amounts(s.Resources), Containers: containers(s.Containers), InitContainers: containers(s.InitContainers),
	}
}

func containers(all []corev1.Container) (kept []corev1.Container) {
	for i := range all {
		c := &all[i]
		one := corev1.Container{Resources: *amounts(&c.Resources), RestartPolicy: c.RestartPolicy, Env: marks(c.Env)}
		for _, port := range c.Ports {
			if port.HostPort != 0 {
				one.Ports = append(one.Ports, corev1.ContainerPort{HostPort: port.HostPort, HostIP: port.HostIP, Protocol: port.Protocol})
			}
		}
		kept = append(kept, one)
	}
	return kept
}

func amounts(r *corev1.ResourceRequirements) *corev1.ResourceRequirements {
	if r == nil {
		return nil
	}
	return &corev1.ResourceRequirements{Requests: r.Requests, Limits: r.Limits}
}

// Variables by which the plugin detects Paddle's pods without labels.
const (
	trainerVariables   = "PADDLE_TRAINER"
	serverVariables    = "PADDLE_PSERVERS"
	trainingRole       = "TRAINING_ROLE"
	paddleTrainingRole = "PADDLE_TRAINING_ROLE"
)

// trainingRoles are the roles that Paddle knows.
var trainingRoles = []string{"PSERVER", "TRAINER", "HETER_TRAINER", "HETER"}

// marks returns what the plugin reads of variables: that there are some of Paddle's training, without their names and values, and
// the role.
func marks(all []corev1.EnvVar) (kept []corev1.EnvVar) {
	paddle := false
	for _, v := range all {
		paddle = paddle || strings.HasPrefix(v.Name, trainerVariables) || strings.HasPrefix(v.Name, serverVariables)
		if (v.Name == trainingRole || v.Name == paddleTrainingRole) && slices.Contains(trainingRoles, v.Value) {
			kept = append(kept, corev1.EnvVar{Name: v.Name, Value: v.Value})
		}
	}
	if paddle && len(kept) == 0 {
		kept = append(kept, corev1.EnvVar{Name: trainerVariables})
	}
	return kept
}
