// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/keys"
	"github.com/paddle-volcano/paddle-volcano/controller/view"
)

// How long changes of a gang's pods are gathered into one sync: they come in bursts, and dozens of them while a gang starts.
const (
	gather = 100 * time.Millisecond
	// gatherCounts is of those that only change how many pods there are, are placed, and run.
	gatherCounts = time.Second
)

// handle makes every watched change enqueue the PaddleJobs that it concerns.
func (c *Controller) handle() error {
	s := c.sources
	for _, source := range []struct {
		informer cache.SharedIndexInformer
		changed  func(object metav1.Object, deleted bool)
	}{
		{s.paddle.Batch().V1().PaddleJobs().Informer(), c.jobChanged},
		{s.volcano.Batch().V1alpha1().Jobs().Informer(), c.volcanoJobChanged},
		{s.volcano.Scheduling().V1beta1().PodGroups().Informer(), c.childChanged},
		{s.configMaps.Core().V1().ConfigMaps().Informer(), c.childChanged},
		{s.pods.Core().V1().Pods().Informer(), c.podChanged},
		{s.volcano.Scheduling().V1beta1().Queues().Informer(), c.admissionChanged},
		{s.cluster.Scheduling().V1().PriorityClasses().Informer(), c.admissionChanged},
	} {
		if _, err := source.informer.AddEventHandler(on(source.changed)); err != nil {
			return err
		}
	}
	return nil
}

// on calls changed for every event of an informer.
func on(changed func(metav1.Object, bool)) cache.ResourceEventHandler {
	call := func(object any, deleted bool) {
		if tombstone, ok := object.(cache.DeletedFinalStateUnknown); ok {
			object = tombstone.Obj
		}
		if m, ok := object.(metav1.Object); ok {
			changed(m, deleted)
			return
		}
		utilruntime.HandleError(unexpected(object))
	}
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { call(object, false) },
		UpdateFunc: func(_, object any) { call(object, false) },
		DeleteFunc: func(object any) { call(object, true) },
	}
}

func keyOf(object metav1.Object) string { return cache.MetaObjectToName(object).String() }

func (c *Controller) jobChanged(object metav1.Object, deleted bool) {
	if job, ok := object.(*v1.PaddleJob); ok {
		c.census.see(keyOf(job), job.Status.Phase, deleted)
	}
	c.queue.Add(keyOf(object))
}

func (c *Controller) volcanoJobChanged(object metav1.Object, deleted bool) {
	if deleted {
		c.failures.forget(object.GetUID())
		c.commanded.forgetAbout(string(object.GetUID()))
		c.unheeded.forgetAbout(string(object.GetUID()))
		c.unmade.forget(string(object.GetUID()))
		c.refusals.forgetJob(string(object.GetUID()))
		c.assumedVolcanoJobs.forget(keyOf(object))
		c.departures.ofJob(keyOf(object), c.now())
	}
	c.childChanged(object, deleted)
}

// childChanged enqueues the PaddleJob that an object belongs to, and those whose name it or its owner has: it may be in a
// job's place, or without its label and still a job's, as a PodGroup is through the Volcano Job of the job's name.
func (c *Controller) childChanged(object metav1.Object, deleted bool) {
	if deleted {
		c.assumedPodGroups.forget(keyOf(object))
		c.assumedEnvironments.forget(keyOf(object))
	}
	if key := jobOf(object); key != "" {
		c.queue.Add(key)
	}
	names := []string{object.GetName()}
	if owner := metav1.GetControllerOf(object); owner != nil {
		names = append(names, owner.Name)
	}
	for _, name := range names {
		if _, err := c.jobs.PaddleJobs(object.GetNamespace()).Get(name); err == nil {
			c.queue.Add(cache.NewObjectName(object.GetNamespace(), name).String())
		}
	}
}

func (c *Controller) podChanged(object metav1.Object, deleted bool) {
	pod, ok := object.(*corev1.Pod)
	key := jobOf(object)
	if !ok || key == "" {
		return
	}
	if c.ofLivingJob(pod) {
		c.failures.see(pod, deleted)
	}
	if deleted {
		c.departures.ofPod(key, c.now())
	}
	if deleted || pod.DeletionTimestamp != nil {
		c.queue.Add(key) // addresses may have to be withdrawn
		return
	}
	c.queue.AddAfter(key, patience(pod))
}

// patience is how long a pod's change may wait for more of them: others wait for its address, and for its end.
func patience(pod *corev1.Pod) time.Duration {
	starts := pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed
	if starts && (pod.Status.PodIP == "" || pod.Status.Phase == corev1.PodRunning) {
		return gatherCounts
	}
	return gather
}

// ofLivingJob says whether a pod's Volcano Job is there: what becomes of the pods of one that was deleted is no news, and
// nobody would forget it.
func (c *Controller) ofLivingJob(pod *corev1.Pod) bool {
	job, err := c.volcanoJobs.Jobs(pod.Namespace).Get(pod.Labels[keys.JobName])
	return err == nil && metav1.IsControlledBy(pod, job)
}

// admissionChanged enqueues the PaddleJobs that may wait for a queue or a priority class.
func (c *Controller) admissionChanged(metav1.Object, bool) {
	jobs, err := c.jobs.List(labels.Everything())
	if err != nil {
		utilruntime.HandleError(err)
		return
	}
	for _, job := range jobs {
		if view.Finished(job) {
			continue
		}
		if _, err := c.volcanoJobs.Jobs(job.Namespace).Get(job.Name); err != nil {
			c.queue.Add(keyOf(job))
		}
	}
}
