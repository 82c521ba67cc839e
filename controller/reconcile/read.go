// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/keys"
	"github.com/paddle-volcano/paddle-volcano/controller/policy"
	"github.com/paddle-volcano/paddle-volcano/controller/view"
)

// read gathers what the caches hold of a PaddleJob, nil if it is gone.
func (c *Controller) read(ctx context.Context, namespace, name, key string) (*view.View, error) {
	job, err := c.jobs.PaddleJobs(namespace).Get(name)
	if apierrors.IsNotFound(err) {
		return nil, nil //nolint:nilnil // a job that is gone is no error
	}
	if err != nil {
		return nil, fmt.Errorf("reading the PaddleJob from the cache: %w", err)
	}
	job, _ = c.assumedJobs.newest(key, job, true)
	v := &view.View{Now: c.now(), Job: job, Queue: c.findQueue, Priority: c.findPriority, TakenPorts: c.takenPorts(key)}

	cached, err := c.volcanoJobs.Jobs(namespace).Get(name)
	if found, ok := c.assumedVolcanoJobs.newest(key, cached, err == nil); ok {
		switch {
		case !metav1.IsControlledBy(found, job):
			v.Occupied = append(v.Occupied, occupant(job, "Volcano Job", found))
		case found.Labels[keys.JobName] == "":
			if v.VolcanoJob, err = c.relabelled(ctx, found); err != nil {
				return nil, err
			}
		default:
			v.VolcanoJob = found
		}
	}
	if err := c.readPods(v, key); err != nil {
		return nil, err
	}
	if v.Succeeded() {
		v.SucceededFor = v.Now.Sub(v.LastEnd())
		c.pace.see(v)
		v.Ends = c.pace.of(v.Now)
	}
	if v.VolcanoJob != nil {
		v.Failure = c.failures.of(v.VolcanoJob.UID)
		v.Unheeded = c.unheeded.length(policy.StateOf(v.VolcanoJob), v.Now)
		groupName := PodGroupName(v.VolcanoJob)
		cached, err := c.podGroups.PodGroups(namespace).Get(groupName)
		if found, ok := c.assumedPodGroups.newest(namespace+"/"+groupName, cached, err == nil); ok {
			v.PodGroup = found
		}
		c.readMissing(ctx, v)
		c.readMounts(ctx, v)
	}
	cm, err := c.configMaps.ConfigMaps(namespace).Get(name)
	if found, ok := c.assumedEnvironments.newest(key, cm, err == nil); ok && metav1.IsControlledBy(found, job) {
		v.Environment = found
	}
	c.readNamesake(v)
	v.Forgetting = c.departures.wait(key, c.now())
	if v.VolcanoJob == nil && job.DeletionTimestamp == nil {
		return v, c.readUncached(ctx, v)
	}
	return v, nil
}

// PodGroupName is the name of the PodGroup that Volcano writes into each pod of a Job.
func PodGroupName(job *vcbatch.Job) string { return job.Name + "-" + string(job.UID) }

// readPods sorts the pods that bear the job's name into its own, paddle-operator's and those of a predecessor.
func (c *Controller) readPods(v *view.View, key string) error {
	objects, err := c.pods.ByIndex(jobIndex, key)
	if err != nil {
		return fmt.Errorf("reading pods from the cache: %w", err)
	}
	for _, object := range objects {
		pod, ok := object.(*corev1.Pod)
		if !ok {
			return unexpected(object)
		}
		switch {
		case v.VolcanoJob != nil && metav1.IsControlledBy(pod, v.VolcanoJob):
			v.Pods = append(v.Pods, pod)
		case metav1.IsControlledBy(pod, v.Job):
			v.Operator.Pods = append(v.Operator.Pods, pod)
		default:
			v.Predecessors = append(v.Predecessors, pod)
		}
	}
	view.SortPods(v.Pods)
	view.SortPods(v.Operator.Pods)
	view.SortPods(v.Predecessors)
	return nil
}

// readNamesake reads the PodGroup of the PaddleJob's own name: paddle-operator's, or one that the user made.
func (c *Controller) readNamesake(v *view.View) {
	group, err := c.podGroups.PodGroups(v.Job.Namespace).Get(v.Job.Name)
	if err != nil || group.DeletionTimestamp != nil {
		return
	}
	if metav1.IsControlledBy(group, v.Job) {
		v.Operator.PodGroup = group
	} else if metav1.GetControllerOf(group) == nil {
		v.Wanted = group
	}
}

func (c *Controller) findQueue(name string) *vcscheduling.Queue {
	queue, err := c.queues.Get(name)
	if err != nil {
		return nil
	}
	return queue
}

func (c *Controller) findPriority(class string) (int32, bool) {
	found, err := c.priorityClasses.Get(class)
	if err != nil {
		return 0, false
	}
	return found.Value, true
}

// occupant describes an object in the place of one that the job needs. What belonged to an earlier PaddleJob of the name
// is about to be collected.
func occupant(job *v1.PaddleJob, kind string, object metav1.Object) view.Occupant {
	owner := metav1.GetControllerOf(object)
	inherited := owner != nil && owner.Name == job.Name && owner.UID != job.UID &&
		(owner.Kind == v1.Kind || owner.Kind == "Job")
	return view.Occupant{
		Kind: kind, Name: object.GetName(), Leaving: object.GetDeletionTimestamp() != nil || inherited,
	}
}
