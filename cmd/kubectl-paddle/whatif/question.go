// SPDX-License-Identifier: Apache-2.0

package whatif

import (
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	"github.com/paddle-volcano/paddle-volcano/controller/keys"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/snapshot"
)

// Question is where a job would go on a cluster, and on one that differs from it.
type Question struct {
	Snapshot *snapshot.Snapshot
	// Job is one that is not submitted, with its namespace. Without it, Name is one that waits.
	Job             *v1.PaddleJob
	Namespace, Name string
	// Wish and Config are those by which the job is rendered.
	Wish   builder.PodGroupOverrides
	Config builder.Config

	// AddNodes are so many copies of Like, or of a node of the largest group.
	AddNodes int
	Like     string
	// Without are nodes that are gone.
	Without []string
}

// ErrNotFound is the error of questions about what a snapshot does not have.
var ErrNotFound = errors.New("not found")

// ErrRuns is the error of questions about a job that has its nodes.
var ErrRuns = errors.New("it has its nodes already")

// ask puts the question's changes and its job into a view of the cluster.
func (q *Question) ask() (*cluster, error) {
	c := newCluster(q.Snapshot)
	c.Scheduler = q.Config.SchedulerName
	if err := c.without(q.Without); err != nil {
		return nil, err
	}
	if err := c.add(q.AddNodes, q.Like); err != nil {
		return nil, err
	}
	if q.Job != nil {
		c.leave(q.Job.Namespace, q.Job.Name)
		c.come(q.Job, q.Wish, q.Config)
		return c, nil
	}
	return c, c.want(q.Namespace, q.Name)
}

// want makes a job that waits the one that is asked about.
func (c *cluster) want(namespace, name string) error {
	for i, group := range c.PodGroups {
		if group.Namespace != namespace || group.Labels[keys.JobName] != name {
			continue
		}
		if group.Status.Phase == vcscheduling.PodGroupRunning {
			return fmt.Errorf("plan %s: %w", name, ErrRuns)
		}
		group = group.DeepCopy()
		group.Status.Conditions = nil // what was said then is not what is said now
		c.PodGroups[i] = group
		c.wanted = group
		return nil
	}
	return fmt.Errorf("plan %s: %w: no PodGroup of it waits in namespace %s; a job that is not submitted is planned by -f FILE", name, ErrNotFound, namespace)
}

// WishFor is what a PodGroup of the user's own asks for, which bears the name of the job; nothing if there is none.
func WishFor(s *snapshot.Snapshot, namespace, name string) builder.PodGroupOverrides {
	for _, group := range s.PodGroups {
		if group.Namespace == namespace && group.Name == name && metav1.GetControllerOf(group) == nil {
			return builder.PodGroupOverrides{MinMember: group.Spec.MinMember, Queue: group.Spec.Queue, PriorityClassName: group.Spec.PriorityClassName}
		}
	}
	return builder.PodGroupOverrides{}
}
