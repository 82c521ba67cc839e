// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"syscall"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	"k8s.io/utils/ptr"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/test/live"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox/stages"
)

// actor does what is drawn.
type actor struct {
	*live.Plane
	r *rand.Rand
	// jobs are those of the round.
	jobs []*job
	// made counts the jobs of all rounds, Did the operations by name.
	made int
	did  map[string]int
	most int
}

// operation is a user's action or a fault. It returns false if no object is suitable.
type operation struct {
	name   string
	weight int
	do     func(*actor, context.Context) (bool, error)
}

var operations = []operation{
	{"create", 40, (*actor).create},
	{"delete", 6, (*actor).delete},
	{"kill a pod", 10, (*actor).killPod},
	{"fail a pod", 6, (*actor).failPod},
	{"suspend", 8, (*actor).suspend},
	{"resume", 10, (*actor).resume},
	{"scale", 14, (*actor).scale},
	{"delete a child", 4, (*actor).deleteChild},
	{"edit a child", 4, (*actor).editChild},
}

// one draws an operation and does it.
func (a *actor) one(ctx context.Context) error {
	sum := 0
	for _, o := range operations {
		sum += o.weight
	}
	at := a.r.IntN(sum)
	for _, o := range operations {
		if at -= o.weight; at >= 0 {
			continue
		}
		done, err := o.do(a, ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", o.name, err)
		}
		if done {
			a.did[o.name]++
		}
		return nil
	}
	return nil
}

// any returns a job of the round that is expected to exist and that match holds for, nil if there is none.
func (a *actor) any(match func(*job) bool) *job {
	var some []*job
	for _, j := range a.jobs {
		if !j.deleted && match(j) {
			some = append(some, j)
		}
	}
	if len(some) == 0 {
		return nil
	}
	return some[a.r.IntN(len(some))]
}

func (a *actor) create(ctx context.Context) (bool, error) {
	list, err := a.Paddle.BatchV1().PaddleJobs(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return false, err
	}
	alive := 0
	for i := range list.Items {
		if phase := list.Items[i].Status.Phase; phase != v1.Completed && phase != v1.Failed {
			alive++
		}
	}
	if alive >= a.most {
		return false, nil
	}
	name := fmt.Sprintf("job-%d", a.made)
	// Now and then a name comes back at once.
	if old := a.any(func(*job) bool { return true }); old != nil && a.r.IntN(8) == 0 {
		if err := a.remove(ctx, old); err != nil {
			return false, err
		}
		a.jobs = slices.DeleteFunc(a.jobs, func(j *job) bool { return j == old })
		name = old.name
	}
	a.made++
	j := draw(a.r, name)
	if _, err := a.Paddle.BatchV1().PaddleJobs(namespace).Create(ctx, j.made, metav1.CreateOptions{}); err != nil {
		return false, err
	}
	a.jobs = append(a.jobs, j)
	return true, nil
}

func (a *actor) remove(ctx context.Context, j *job) error {
	err := a.Paddle.BatchV1().PaddleJobs(namespace).Delete(ctx, j.name, metav1.DeleteOptions{})
	j.deleted = true
	return butGone(err)
}

func (a *actor) delete(ctx context.Context) (bool, error) {
	j := a.any(func(*job) bool { return true })
	if j == nil {
		return false, nil
	}
	return true, a.remove(ctx, j)
}

// pod returns any pod of the job that runs, nil if there is none.
func (a *actor) pod(ctx context.Context, j *job) (*corev1.Pod, error) {
	list, err := a.Kube.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{LabelSelector: "volcano.sh/job-name=" + j.name})
	if err != nil {
		return nil, err
	}
	var running []*corev1.Pod
	for i := range list.Items {
		if list.Items[i].Status.Phase == corev1.PodRunning && list.Items[i].DeletionTimestamp == nil {
			running = append(running, &list.Items[i])
		}
	}
	if len(running) == 0 {
		return nil, nil //nolint:nilnil // none is no error
	}
	return running[a.r.IntN(len(running))], nil
}

func (a *actor) hurt(ctx context.Context, how func(*corev1.Pod) error) (bool, error) {
	j := a.any(func(j *job) bool { return !j.suspended && j.outcome != stalls })
	if j == nil {
		return false, nil
	}
	pod, err := a.pod(ctx, j)
	if err != nil || pod == nil {
		return false, err
	}
	j.hurt = true
	return true, butGone(how(pod))
}

func (a *actor) killPod(ctx context.Context) (bool, error) {
	return a.hurt(ctx, func(pod *corev1.Pod) error {
		return a.Kube.CoreV1().Pods(namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{})
	})
}

func (a *actor) failPod(ctx context.Context) (bool, error) {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]any{
		stages.AnnotationExitCode: "1", stages.AnnotationRunFor: "1ms", stages.AnnotationFailAttempt: nil,
	}}})
	if err != nil {
		return false, err
	}
	return a.hurt(ctx, func(pod *corev1.Pod) error {
		_, err := a.Kube.CoreV1().Pods(namespace).Patch(ctx, pod.Name, types.MergePatchType, patch, metav1.PatchOptions{})
		return err
	})
}

func (a *actor) edit(ctx context.Context, j *job, change func(*v1.PaddleJob)) error {
	jobs := a.Paddle.BatchV1().PaddleJobs(namespace)
	return butGone(retry.RetryOnConflict(retry.DefaultRetry, func() error {
		there, err := jobs.Get(ctx, j.name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		change(there)
		_, err = jobs.Update(ctx, there, metav1.UpdateOptions{})
		return err
	}))
}

func (a *actor) suspend(ctx context.Context) (bool, error) {
	j := a.any(func(j *job) bool { return !j.suspended })
	if j == nil {
		return false, nil
	}
	j.suspended = true
	return true, a.edit(ctx, j, func(there *v1.PaddleJob) { there.Spec.RunPolicy.Suspend = ptr.To(true) })
}

func (a *actor) resume(ctx context.Context) (bool, error) {
	j := a.any(func(j *job) bool { return j.suspended })
	if j == nil {
		return false, nil
	}
	j.suspended = false
	return true, a.edit(ctx, j, func(there *v1.PaddleJob) { there.Spec.RunPolicy.Suspend = nil })
}

func (a *actor) scale(ctx context.Context) (bool, error) {
	j := a.any(func(j *job) bool { return j.elastic() })
	if j == nil {
		return false, nil
	}
	workers := 1 + a.r.IntN(mostWorkers)
	return true, a.edit(ctx, j, func(there *v1.PaddleJob) { there.Spec.Worker.Replicas = int32(workers) })
}

// butGone forgives that an object went meanwhile.
func butGone(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// restart kills a component, as a node does that fails, and starts it again.
func (a *actor) restart(component string) error {
	if err := a.Kill(component, syscall.SIGKILL); err != nil {
		return err
	}
	a.did["kill "+component]++
	return a.StartComponent(component)
}

// Kinds of what jobs have made for them.
var (
	volcanoJobs = schema.GroupVersionResource{Group: "batch.volcano.sh", Version: "v1alpha1", Resource: "jobs"}
	podGroups   = schema.GroupVersionResource{Group: "scheduling.volcano.sh", Version: "v1beta1", Resource: "podgroups"}
	configMaps  = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
)

// child returns any object of a kind that belongs to one of the round's jobs, "" if there is none.
func (a *actor) child(ctx context.Context, kind schema.GroupVersionResource) (name string, of *job, err error) {
	list, err := a.Dynamic.Resource(kind).Namespace(namespace).List(ctx, metav1.ListOptions{})
	if err != nil || len(list.Items) == 0 {
		return "", nil, err
	}
	object := &list.Items[a.r.IntN(len(list.Items))]
	owner := metav1.GetControllerOf(object)
	if owner == nil {
		return "", nil, nil
	}
	return object.GetName(), a.any(func(j *job) bool { return j.name == owner.Name }), nil
}

// deleteChild deletes what the controller has made; it makes it again as long as the job needs it.
func (a *actor) deleteChild(ctx context.Context) (bool, error) {
	kind := []schema.GroupVersionResource{volcanoJobs, podGroups, configMaps}[a.r.IntN(3)]
	name, of, err := a.child(ctx, kind)
	if err != nil || of == nil {
		return false, err
	}
	if kind == volcanoJobs {
		of.orphaned = true
	}
	return true, butGone(a.Dynamic.Resource(kind).Namespace(namespace).Delete(ctx, name, metav1.DeleteOptions{}))
}

// editChild changes an object of the controller, which restores it.
func (a *actor) editChild(ctx context.Context) (bool, error) {
	kind, patch := podGroups, `{"spec":{"minMember":1},"metadata":{"labels":null}}`
	if a.r.IntN(2) == 0 {
		kind, patch = configMaps, `{"data":{"PADDLE_TRAINERS_NUM":"77"}}`
	}
	name, of, err := a.child(ctx, kind)
	if err != nil || of == nil {
		return false, err
	}
	_, err = a.Dynamic.Resource(kind).Namespace(namespace).Patch(ctx, name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	return true, butGone(err)
}
