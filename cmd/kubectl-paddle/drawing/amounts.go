// SPDX-License-Identifier: Apache-2.0

package drawing

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/resource"
)

// Accelerators are the resources that count whole GPUs: those of the scheduler's plugin when it is told nothing else
// (test/cluster compares).
var Accelerators = []corev1.ResourceName{
	"nvidia.com/gpu", "amd.com/gpu", "kunlunxin.com/xpu", "huawei.com/Ascend910", "cambricon.com/mlu", "hygon.com/dcu",
	"iluvatar.com/gpu", "iluvatar.ai/gpu", "metax-tech.com/gpu", "enflame.com/gcu",
}

func amountsOf(list corev1.ResourceList) Amounts {
	a := Amounts{MilliCPUs: list.Cpu().MilliValue(), Bytes: list.Memory().Value(), Pods: list.Pods().Value()}
	for _, name := range Accelerators {
		if q, ok := list[name]; ok {
			a.GPUs += q.Value()
		}
	}
	return a
}

// held is what a pod takes of its node.
func held(pod *corev1.Pod) Amounts {
	a := amountsOf(resource.PodRequests(pod, resource.PodResourcesOptions{}))
	a.Pods = 1
	return a
}

// stateOf says why no pod is placed on a node.
func stateOf(node *corev1.Node) string {
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady && c.Status != corev1.ConditionTrue {
			return "not ready"
		}
	}
	if node.Spec.Unschedulable {
		return "cordoned"
	}
	return ""
}
