// SPDX-License-Identifier: Apache-2.0

package kubeflow

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	kubeflowv1 "github.com/paddle-volcano/paddle-volcano/controller/api/kubeflow/v1"
)

const (
	// trainingContainer is the name of the container that trains.
	trains = "paddle"
	// operator is what Kubeflow's tools know the controller of PaddleJobs as.
	operator = "paddlejob-controller"
	// masterPort is the name of the port that the launchers meet at, and defaultPort its number where no container has it.
	masterPort        = "master"
	defaultPort int32 = 36543
)

// template is a role's pod as it is for the PaddleJob that is made.
func (f *conversionResult) template(name kubeflowv1.ReplicaType, spec *kubeflowv1.ReplicaSpec, env []corev1.EnvVar, job string) corev1.PodTemplateSpec {
	made := *spec.Template.DeepCopy()
	if made.Labels == nil {
		made.Labels = map[string]string{}
	}
	maps.Copy(made.Labels, podLabels(job, name))
	pod := &made.Spec
	if pod.RestartPolicy != "" && string(pod.RestartPolicy) != string(restartPolicy(spec)) {
		f.warn(ReasonRestartPolicy, "%s.template.spec.restartPolicy has no effect: %s.restartPolicy counts", path(name), path(name))
	}
	// A container that starts again in place is no failure that anybody sees, and its peers wait for it forever.
	pod.RestartPolicy = corev1.RestartPolicyNever
	// The first container is the one that trains.
	at := slices.IndexFunc(pod.Containers, func(c corev1.Container) bool { return c.Name == trains })
	if at > 0 {
		first := pod.Containers[at]
		pod.Containers = slices.Insert(slices.Delete(pod.Containers, at, at+1), 0, first)
	}
	for i := range pod.Containers {
		addVariables(&pod.Containers[i], env)
	}
	return made
}

// podLabels are those by which Kubeflow's tools find the pods of a role.
func podLabels(job string, name kubeflowv1.ReplicaType) map[string]string {
	labels := map[string]string{
		kubeflowv1.JobNameLabel:      job,
		kubeflowv1.OperatorNameLabel: operator,
		kubeflowv1.ReplicaTypeLabel:  strings.ToLower(string(name)),
	}
	if name == kubeflowv1.Master {
		labels[kubeflowv1.JobRoleLabel] = strings.ToLower(string(name))
	}
	return labels
}

// portOf is the number of the port named master of the container that trains.
func portOf(spec *kubeflowv1.ReplicaSpec) int32 {
	for i := range spec.Template.Spec.Containers {
		container := &spec.Template.Spec.Containers[i]
		if container.Name != trains {
			continue
		}
		for _, port := range container.Ports {
			if port.Name == masterPort {
				return port.ContainerPort
			}
		}
	}
	return defaultPort
}
