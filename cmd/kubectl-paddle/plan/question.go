// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/describe"
	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/snapshot"
	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/simulate"
)

// Question is where a job would be placed on a cluster, or on one with other nodes.
type Question struct {
	Snapshot *snapshot.Snapshot
	// Job is one that is not submitted, with its namespace. Without it, Name is one that waits.
	Job             *v1.PaddleJob
	Namespace, Name string
	// Requested and Config are those by which the controller creates the Volcano Job.
	Requested builder.PodGroupOverrides
	Config    builder.Config

	// AddNodes are so many copies of Like, or of a node of the largest group.
	AddNodes int
	Like     string
	// Without are nodes that are removed.
	Without []string
}

// ErrNotFound is the error of questions about what a snapshot does not have.
var ErrNotFound = errors.New("not found")

// ErrPlaced is the error of questions about a job that has its nodes.
var ErrPlaced = errors.New("it has its nodes already")

// cluster returns the cluster of the snapshot with the question's changes and its job.
func (q *Question) cluster() (*cluster, error) {
	c := newCluster(q.Snapshot)
	c.Scheduler = q.Config.SchedulerName
	if err := c.without(q.Without); err != nil {
		return nil, err
	}
	if err := c.add(q.AddNodes, q.Like); err != nil {
		return nil, err
	}
	if q.Job != nil {
		c.remove(q.Job.Namespace, q.Job.Name)
		c.submit(q.Job, q.Requested, q.Config)
		return c, nil
	}
	return c, c.selectPending(q.Namespace, q.Name)
}

// selectPending selects a pending job.
func (c *cluster) selectPending(namespace, name string) error {
	for i, group := range c.PodGroups {
		if group.Namespace != namespace || group.Labels[v1.JobNameLabel] != name {
			continue
		}
		if group.Status.Phase == vcscheduling.PodGroupRunning {
			return fmt.Errorf("plan %s: %w", name, ErrPlaced)
		}
		group = group.DeepCopy()
		group.Status.Conditions = nil // they are of the time before
		c.PodGroups[i] = group
		c.wanted = group
		return nil
	}
	return fmt.Errorf("plan %s: %w: it has no pending PodGroup in namespace %s; a job that is not submitted is planned by -f FILE", name, ErrNotFound, namespace)
}

// OwnPodGroup returns the PodGroup of the user's own that has the name of a job, nil if there is none.
func OwnPodGroup(s *snapshot.Snapshot, namespace, name string) *vcscheduling.PodGroup {
	for _, group := range s.PodGroups {
		if group.Namespace == namespace && group.Name == name && metav1.GetControllerOf(group) == nil {
			return group
		}
	}
	return nil
}

// Requested returns what a PodGroup of the user's own, which may be nil, requests for its job.
func Requested(group *vcscheduling.PodGroup) builder.PodGroupOverrides {
	if group == nil {
		return builder.PodGroupOverrides{}
	}
	return builder.PodGroupOverrides{MinMember: group.Spec.MinMember, Queue: group.Spec.Queue, PriorityClassName: group.Spec.PriorityClassName}
}

// Ideal returns where a job that has its nodes would run on an empty cluster. The snapshot's one PodGroup is the
// job's, and its pods are the job's pods. It is nil if the job would not fit there, for example because nodes were removed.
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
	return describe.Placement(r.Groups[simulate.Key(c.wanted)]), nil
}
