// SPDX-License-Identifier: Apache-2.0

package faults_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/retry"
	"k8s.io/utils/ptr"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox/stages"
)

// jobName is the name of every job: each is in its own namespace.
const jobName = "job"

// driver drives a scenario.
type driver struct {
	t         *testing.T
	namespace string
	// step is called before each step, unless it is nil.
	step func()
	// events are required: the controller keeps running, and receives the answer to each write. Otherwise an event may be lost,
	// because the controller emits it once, after the write that it is about.
	events bool
	// gang is that of the environment which was seen last.
	gang string
	// calm is held from a pod's failure until the gang runs again; nil if anything may happen meanwhile.
	calm sync.Locker
	held bool
}

// release releases calm.
func (d *driver) release() {
	if d.held {
		d.held = false
		d.calm.Unlock()
	}
}

// wait asks again and again, also while the API server is away.
func (d *driver) wait(what string, try func(context.Context) error) {
	d.t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(d.t.Context(), askEvery, patience, true, func(ctx context.Context) (bool, error) {
		err := try(ctx)
		if last == nil || ctx.Err() == nil {
			last = err
		}
		return err == nil, nil
	})
	if err != nil {
		require.NoError(d.t, err, "gave up waiting for %s: %v (%s; logs in %s)", what, last, d.truth(), cluster.StateDir())
	}
}

// truth describes the gang's objects in the API server, for the message of a timeout.
func (d *driver) truth() string {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	job, err := cluster.Volcano.BatchV1alpha1().Jobs(d.namespace).Get(ctx, jobName, metav1.GetOptions{})
	if err != nil {
		return fmt.Sprintf("the Volcano Job: %v", err)
	}
	pods, err := cluster.Kube.CoreV1().Pods(d.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Sprintf("the pods: %v", err)
	}
	words := []string{fmt.Sprintf("the Volcano Job is %s, restarted %d times", job.Status.State.Phase, job.Status.RetryCount)}
	for i := range pods.Items {
		pod := &pods.Items[i]
		words = append(words, fmt.Sprintf("pod %s (%s, version %s) is %s on %q, deleted %v, annotated %v",
			pod.Name, pod.UID, pod.ResourceVersion, pod.Status.Phase, pod.Spec.NodeName, pod.DeletionTimestamp, pod.Annotations))
	}
	return strings.Join(words, "; ")
}

// do is a step of the user's.
func (d *driver) do(what string, try func(context.Context) error) {
	d.t.Helper()
	if d.step != nil {
		d.step()
	}
	d.wait(what, try)
}

// await waits until the job is as wanted.
func (d *driver) await(what string, want func(*v1.PaddleJob) bool) {
	d.t.Helper()
	d.wait("the job to be "+what, func(context.Context) error {
		object, err := listers[paddleJobs].ByNamespace(d.namespace).Get(jobName)
		if err != nil {
			return err
		}
		var job v1.PaddleJob
		u, ok := object.(*unstructured.Unstructured)
		if !ok {
			return fmt.Errorf("it is a %T", object)
		}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &job); err != nil {
			return err
		}
		if !want(&job) {
			text, err := json.Marshal(job.Status)
			return errors.Join(fmt.Errorf("its status is %s", text), err)
		}
		return nil
	})
}

// awaitRunning waits until the job runs with these numbers of pods ("" for none), restarts and failures, and the pods agree.
func (d *driver) awaitRunning(ps, worker string, restarts, failures int32) {
	d.t.Helper()
	ready := func(r *v1.ResourceStatus) string {
		if r == nil {
			return ""
		}
		return r.Ready
	}
	d.await(fmt.Sprintf("running with %q and %q", ps, worker), func(job *v1.PaddleJob) bool {
		s := &job.Status
		return s.Phase == v1.Running && ready(s.PS) == ps && ready(s.Worker) == worker && s.Restarts == restarts &&
			s.Failures == failures && s.ObservedGeneration == job.Generation
	})
	d.release()
}

// awaitEnvironment waits until another gang has its environment than the last time; containers would not start before.
func (d *driver) awaitEnvironment() {
	d.t.Helper()
	d.wait("the environment", func(context.Context) error {
		gang, err := d.environmentGang()
		if err != nil {
			return err
		}
		if gang == d.gang {
			return errors.New("it is still that of the last gang")
		}
		d.gang = gang
		return nil
	})
}

func (d *driver) environmentGang() (string, error) {
	object, err := listers[configMaps].ByNamespace(d.namespace).Get(jobName)
	if err != nil {
		return "", err
	}
	cm, err := meta.Accessor(object)
	if err != nil {
		return "", err
	}
	return cm.GetAnnotations()[v1.GangAnnotation], nil
}

func (d *driver) awaitCreated() {
	d.t.Helper()
	d.await("created", func(job *v1.PaddleJob) bool {
		return meta.IsStatusConditionTrue(job.Status.Conditions, v1.ConditionCreated)
	})
}

func (d *driver) awaitSuspended() {
	d.t.Helper()
	d.await("suspended", func(job *v1.PaddleJob) bool {
		c := meta.FindStatusCondition(job.Status.Conditions, v1.ConditionSuspended)
		return c != nil && c.Status == metav1.ConditionTrue && c.Reason == "Suspended"
	})
}

func (d *driver) awaitCompleted(succeeded int) {
	d.t.Helper()
	d.await("completed", func(job *v1.PaddleJob) bool {
		return job.Status.Phase == v1.Completed && job.Status.Worker.Succeeded == int32(succeeded)
	})
}

func (d *driver) awaitPods(want int) {
	d.t.Helper()
	d.wait(fmt.Sprintf("%d pods to be left", want), func(context.Context) error {
		left, err := objectsOf(corev1.SchemeGroupVersion.WithResource("pods"), d.namespace)
		if err == nil && len(left) != want {
			err = fmt.Errorf("there are %d", len(left))
		}
		return err
	})
}

// edit changes the job as a user does.
func (d *driver) edit(change func(*v1.PaddleJob)) {
	d.t.Helper()
	jobs := cluster.Paddle.BatchV1().PaddleJobs(d.namespace)
	d.do("the job to be edited", func(ctx context.Context) error {
		return retry.RetryOnConflict(retry.DefaultRetry, func() error {
			job, err := jobs.Get(ctx, jobName, metav1.GetOptions{})
			if err != nil {
				return err
			}
			change(job)
			_, err = jobs.Update(ctx, job, metav1.UpdateOptions{})
			return err
		})
	})
}

func (d *driver) scale(workers int) {
	d.t.Helper()
	d.edit(func(job *v1.PaddleJob) { job.Spec.Worker.Replicas = int32(workers) })
}

// fail ends a running pod with an error.
func (d *driver) fail(pod string) {
	d.t.Helper()
	d.hold()
	d.annotate(jobName+"-"+pod, map[string]string{stages.AnnotationExitCode: "1", stages.AnnotationRunFor: "1ms"})
}

// evict deletes a pod that runs at once, as the pod garbage collector does when its node is lost: in the place of a pod that
// takes its time Volcano may make another one before it starts the gang again.
func (d *driver) evict(pod string) {
	d.t.Helper()
	d.hold()
	var uid types.UID
	d.do("pod "+pod+" to be evicted", func(ctx context.Context) error {
		pods := cluster.Kube.CoreV1().Pods(d.namespace)
		if uid == "" {
			found, err := pods.Get(ctx, jobName+"-"+pod, metav1.GetOptions{})
			if err != nil {
				return err
			}
			uid = found.UID
		}
		err := pods.Delete(ctx, jobName+"-"+pod, metav1.DeleteOptions{
			GracePeriodSeconds: ptr.To[int64](0), Preconditions: &metav1.Preconditions{UID: &uid},
		})
		return butFor(err, func(err error) bool { return apierrors.IsNotFound(err) || apierrors.IsConflict(err) })
	})
}

// hold keeps the API server from being restarted until the gang runs again.
func (d *driver) hold() {
	if d.calm == nil {
		return
	}
	d.calm.Lock()
	d.held = true
	d.t.Cleanup(d.release)
}

// succeed ends every running worker with exit code 0.
func (d *driver) succeed() {
	d.t.Helper()
	for _, name := range d.workersThatRun() {
		d.annotate(name, map[string]string{stages.AnnotationRunFor: "1ms"})
	}
}

// workersThatRun returns the names of the workers that run now, read from the pods and not from the job's status.
func (d *driver) workersThatRun() (workers []string) {
	d.t.Helper()
	d.wait("the list of workers", func(ctx context.Context) error {
		workers = nil
		list, err := cluster.Kube.CoreV1().Pods(d.namespace).List(ctx, metav1.ListOptions{LabelSelector: "volcano.sh/task-spec=worker"})
		if err != nil {
			return err
		}
		for i := range list.Items {
			if list.Items[i].Status.Phase == corev1.PodRunning && list.Items[i].DeletionTimestamp == nil {
				workers = append(workers, list.Items[i].Name)
			}
		}
		return nil
	})
	return workers
}

// occupy creates a pod on each node that the workers may use, without the scheduler and any affinity, so that no pending worker
// finds a node when the others end. It returns what deletes these pods. The simulated kubelet
// deletes by name, so that a worker may be lost with an earlier pod of its name, which the status reports later. Then occupy
// starts again when as many run.
func (d *driver) occupy(others int) (leave func()) {
	d.t.Helper()
	for {
		d.wait(fmt.Sprintf("%d workers to run", others), func(context.Context) error {
			if running := d.workersThatRun(); len(running) != others {
				return fmt.Errorf("%v run", running)
			}
			return nil
		})
		for _, node := range fewNodes() {
			d.occupyNode(node)
		}
		if len(d.workersThatRun()) == others {
			return d.leave
		}
		d.leave()
	}
}

func (d *driver) occupyNode(node string) {
	d.t.Helper()
	pods := cluster.Kube.CoreV1().Pods(d.namespace)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "occupies-" + node, Labels: onePerNodeLabels()},
		Spec:       corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: "occupies", Image: "occupies"}}},
	}
	d.do("a pod that occupies "+node, func(ctx context.Context) error {
		_, err := pods.Create(ctx, pod, metav1.CreateOptions{})
		return butFor(err, apierrors.IsAlreadyExists)
	})
	d.wait("the pod that occupies the node to run", func(ctx context.Context) error {
		found, err := pods.Get(ctx, pod.Name, metav1.GetOptions{})
		if err == nil && (found.Status.Phase != corev1.PodRunning || found.DeletionTimestamp != nil) {
			err = fmt.Errorf("it is %s, deleted %v", found.Status.Phase, found.DeletionTimestamp)
		}
		return err
	})
}

// leave deletes these pods.
func (d *driver) leave() {
	d.t.Helper()
	occupying := metav1.ListOptions{LabelSelector: "one=per-node,!volcano.sh/task-spec"}
	pods := cluster.Kube.CoreV1().Pods(d.namespace)
	d.do("the deletion of the occupying pods", func(ctx context.Context) error {
		return pods.DeleteCollection(ctx, metav1.DeleteOptions{}, occupying)
	})
	d.wait("the occupying pods to be gone", func(ctx context.Context) error {
		left, err := pods.List(ctx, occupying)
		if err == nil && len(left.Items) > 0 {
			err = fmt.Errorf("%d are left", len(left.Items))
		}
		return err
	})
}

// butFor forgives an error that says that what was to be done has been done.
func butFor(err error, done func(error) bool) error {
	if done(err) {
		return nil
	}
	return err
}

func (d *driver) annotate(pod string, annotations map[string]string) {
	d.t.Helper()
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": annotations}})
	require.NoError(d.t, err)
	d.do("pod "+pod+" to be annotated", func(ctx context.Context) error {
		_, err := cluster.Kube.CoreV1().Pods(d.namespace).Patch(ctx, pod, types.MergePatchType, patch, metav1.PatchOptions{})
		return err
	})
}

// reported returns how often each reason of the events about the job was emitted.
func (d *driver) reported() map[string]int {
	d.t.Helper()
	counts := map[string]int{}
	d.wait("the list of events", func(ctx context.Context) error {
		list, err := cluster.Kube.CoreV1().Events(d.namespace).List(ctx, metav1.ListOptions{
			FieldSelector: "involvedObject.kind=PaddleJob,involvedObject.name=" + jobName,
		})
		if err != nil {
			return err
		}
		for i := range list.Items {
			counts[list.Items[i].Reason] += int(max(list.Items[i].Count, 1))
		}
		return nil
	})
	return counts
}
