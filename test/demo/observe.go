// SPDX-License-Identifier: Apache-2.0

package demo

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	batchv1alpha1 "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	paddlev1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/status"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

// seen is one thing that the API server told of a job, by the job's namespace. One of status and pod is set.
type seen struct {
	namespace string
	status    *Status
	pod       *Pod
}

// seenOf reads an object that is watched; nil for one that says nothing of a job.
func seenOf(object any) *seen {
	switch o := object.(type) {
	case *paddlev1.PaddleJob:
		return &seen{namespace: o.Namespace, status: &Status{
			Mode: string(o.Status.Mode), Phase: string(o.Status.Phase), Reason: explanation(o.Status.Conditions),
		}}
	case *batchv1alpha1.Job:
		// A PaddleJob tells of its own Volcano Job.
		if metav1.GetControllerOf(o) != nil {
			return nil
		}
		return &seen{namespace: o.Namespace, status: &Status{
			Mode: rawMode, Phase: string(o.Status.State.Phase), Reason: o.Status.State.Message,
		}}
	case *corev1.Pod:
		role, ours := o.Labels[batchv1alpha1.TaskSpecKey]
		if !ours {
			return nil
		}
		return &seen{namespace: o.Namespace, pod: &Pod{Name: o.Name, Role: role, Node: o.Spec.NodeName}}
	default:
		return nil
	}
}

// explanation is why a job does not go on, or why it failed; empty while all is well. A job that has only just begun to
// wait has nothing to explain yet.
func explanation(conditions []metav1.Condition) string {
	for _, kind := range []string{paddlev1.ConditionStalled, paddlev1.ConditionFailed} {
		if c := meta.FindStatusCondition(conditions, kind); c != nil && c.Status == metav1.ConditionTrue {
			return c.Message
		}
	}
	c := meta.FindStatusCondition(conditions, paddlev1.ConditionScheduled)
	if c == nil || c.Status != metav1.ConditionFalse {
		return ""
	}
	if status.Waits(c.Reason) {
		return c.Message
	}
	return ""
}

func nodesByName(nodes []corev1.Node) map[string]Node {
	byName := make(map[string]Node, len(nodes))
	for i := range nodes {
		byName[nodes[i].Name] = Node{Rack: nodes[i].Labels[sandbox.LabelRack], Labels: nodes[i].Labels}
	}
	return byName
}
