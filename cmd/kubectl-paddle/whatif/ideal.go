// SPDX-License-Identifier: Apache-2.0

package whatif

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/simulate"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/snapshot"
	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/story"
)

// Ideal is where a job that has its nodes would run if nothing else ran on the cluster. The snapshot's one PodGroup is the
// job's, and its pods are the job's pods. It is nil if the job would not fit there, as where its nodes are gone.
func Ideal(s *snapshot.Snapshot) (*report.Placement, error) {
	c := newCluster(s)
	c.wanted = c.PodGroups[0].DeepCopy()
	c.wanted.Status = vcscheduling.PodGroupStatus{Phase: vcscheduling.PodGroupInqueue}
	c.openQueue(c.wanted.Spec.Queue)
	c.Pods = slices.DeleteFunc(c.Pods, func(p *corev1.Pod) bool {
		return p.DeletionTimestamp != nil || p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
	})
	for i, pod := range c.Pods {
		pod = pod.DeepCopy()
		pod.Spec.NodeName, pod.Status = "", corev1.PodStatus{Phase: corev1.PodPending}
		c.Pods[i], c.Scheduler = pod, pod.Spec.SchedulerName
	}
	r, err := simulate.Run(c.emptied(), simulate.Key(c.wanted))
	if err != nil || !c.fits(r) {
		return nil, err
	}
	return story.Placement(r.Groups[simulate.Key(c.wanted)]), nil
}
