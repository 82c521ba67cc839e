// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/paddle-volcano/paddle-volcano/controller/keys"
	"github.com/paddle-volcano/paddle-volcano/controller/view"
)

// reasonNoConfig is what a kubelet says of a container whose ConfigMap was not there.
const reasonNoConfig = "CreateContainerConfigError"

// wake has kubelets look again at pods that they could not start before the environment was there. By themselves they do
// so 10 to 15 seconds after they found it missing, but at once when anything about the pod changes.
func (p *Plan) wake(v *view.View, gang string) {
	var action AnnouncePods
	for _, pod := range v.Pods {
		if lacksConfig(pod) && pod.DeletionTimestamp == nil && pod.Annotations[keys.Gang] != gang {
			action.Pods = append(action.Pods, Announcement{Pod: pod, Annotations: map[string]string{keys.Gang: gang}})
		}
	}
	if len(action.Pods) > 0 {
		p.do(action)
	}
}

func lacksConfig(pod *corev1.Pod) bool {
	return slices.ContainsFunc(slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses), func(c corev1.ContainerStatus) bool {
		return c.State.Waiting != nil && c.State.Waiting.Reason == reasonNoConfig
	})
}
