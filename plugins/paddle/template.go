// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
)

// template is what decides on which nodes a pod may run, besides the resources that it requests.
type template struct {
	NodeSelector map[string]string   `json:",omitempty"`
	Affinity     *corev1.Affinity    `json:",omitempty"`
	Tolerations  []corev1.Toleration `json:",omitempty"`
}

// templateKey is equal for pods with the same template, "" where it does not restrict the nodes. alone tells that the
// answers of predicates depend on other pods, volumes or claims as well: they then hold until one of the pods is placed.
func templateKey(pod *corev1.Pod) (key string, alone bool) {
	spec := &pod.Spec
	if alone = dependsOnOthers(spec); !alone && spec.NodeSelector == nil && spec.Affinity == nil && len(spec.Tolerations) == 0 {
		return "", false
	}
	text, err := json.Marshal(template{NodeSelector: spec.NodeSelector, Affinity: spec.Affinity, Tolerations: spec.Tolerations})
	if err != nil { // cannot happen with these types; such a pod is asked about by itself
		return "", true
	}
	return string(text), alone
}

func dependsOnOthers(spec *corev1.PodSpec) bool {
	if spec.Affinity != nil && (spec.Affinity.PodAffinity != nil || spec.Affinity.PodAntiAffinity != nil) ||
		len(spec.TopologySpreadConstraints) > 0 || len(spec.ResourceClaims) > 0 || len(hostPorts(spec)) > 0 {
		return true
	}
	for i := range spec.Volumes {
		if spec.Volumes[i].PersistentVolumeClaim != nil || spec.Volumes[i].Ephemeral != nil || spec.Volumes[i].CSI != nil {
			return true
		}
	}
	return false
}

// hostPorts are the ports of the node that a pod takes.
func hostPorts(spec *corev1.PodSpec) []corev1.ContainerPort {
	var ports []corev1.ContainerPort
	for _, containers := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range containers {
			for _, port := range containers[i].Ports {
				if port.HostPort > 0 || spec.HostNetwork && port.ContainerPort > 0 {
					ports = append(ports, port)
				}
			}
		}
	}
	return ports
}
