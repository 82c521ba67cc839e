// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

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

// PodSpec is where a pod may go, and what it takes there. What it runs, and what it is given, is not the scheduler's.
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

// Variables by which the plugin knows Paddle's pods where labels do not say it.
const (
	trainerVariables   = "PADDLE_TRAINER"
	serverVariables    = "PADDLE_PSERVERS"
	trainingRole       = "TRAINING_ROLE"
	paddleTrainingRole = "PADDLE_TRAINING_ROLE"
)

// trainingRoles are the roles that Paddle knows.
var trainingRoles = []string{"PSERVER", "TRAINER", "HETER_TRAINER", "HETER"}

// marks are what variables tell the plugin: that there are some of Paddle's training, without their names and values, and
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
