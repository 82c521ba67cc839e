// SPDX-License-Identifier: Apache-2.0

package manifests_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	batchv1alpha1 "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	schedulingv1beta1 "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	paddlev1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox/stages"
)

// pods returns the pods of one role of the only job in a namespace.
func (p *plane) pods(ctx context.Context, namespace, role string) ([]corev1.Pod, error) {
	list, err := p.Kube.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{LabelSelector: batchv1alpha1.TaskSpecKey + "=" + role})
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}

// inPhase counts the pods in a phase, and fails when the number is another.
func inPhase(pods []corev1.Pod, phase corev1.PodPhase, want int) error {
	var states []string
	count := 0
	for i := range pods {
		if pods[i].Status.Phase == phase {
			count++
		}
		states = append(states, pods[i].Name+" "+string(pods[i].Status.Phase))
	}
	if count != want {
		return fmt.Errorf("%d pods are %s, not %d: %s", count, phase, want, strings.Join(states, ", "))
	}
	return nil
}

// watchBindings returns a function that stops watching and lists every pod of the namespace that was ever bound.
func (p *plane) watchBindings(t *testing.T, namespace string) (bound func() []string) {
	t.Helper()
	list, err := p.Kube.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	require.Empty(t, list.Items, "the watch must begin before the first pod")
	watch, err := p.Kube.CoreV1().Pods(namespace).Watch(t.Context(), metav1.ListOptions{ResourceVersion: list.ResourceVersion})
	require.NoError(t, err)
	result := make(chan []string, 1)
	go func() {
		var names []string
		for event := range watch.ResultChan() {
			if pod, ok := event.Object.(*corev1.Pod); ok && pod.Spec.NodeName != "" {
				names = append(names, pod.Name+" on "+pod.Spec.NodeName)
			}
		}
		result <- names
	}()
	return func() []string {
		watch.Stop()
		return <-result
	}
}

// cyclesWithout is how many scheduling cycles a gang that does not fit is watched for.
const cyclesWithout = 10

// ask is what a pod asks for.
type ask struct {
	requests corev1.ResourceList
	// tiny is the rack of nodes that take few pods where the pod must run; empty for pods that run elsewhere.
	tiny string
}

func (a ask) role(replicas int) *paddlev1.ResourceSpec {
	pod := corev1.PodSpec{Containers: []corev1.Container{{
		Name: "paddle", Image: "paddle", Resources: corev1.ResourceRequirements{Requests: a.requests, Limits: a.requests},
	}}}
	if a.tiny != "" {
		pod.NodeSelector = map[string]string{tinyLabel: a.tiny}
		pod.Tolerations = []corev1.Toleration{{Key: tinyLabel, Operator: corev1.TolerationOpExists}}
	}
	return &paddlev1.ResourceSpec{Replicas: int32(replicas), Template: corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{stages.AnnotationRunFor: "forever"}}, Spec: pod,
	}}
}

// A tiny rack holds 4 pods and 16 cores; the demo's GPU nodes hold one pod of 5 GPUs each, of which there
// are 4. Each case has a size that fits, which shows that nothing but the size holds the other back.
func TestGangWithOnePodTooManyIsNeverBound(t *testing.T) {
	t.Parallel()
	cores := func(n string) corev1.ResourceList {
		return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(n)}
	}
	gpus := corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("5")}
	tests := []struct {
		name            string
		servers, worker ask
		// fits and exceeds are numbers of servers and workers.
		fits, exceeds [2]int
	}{
		{name: "workers with requests", servers: ask{requests: cores("1")}, worker: ask{requests: gpus}, fits: [2]int{2, 4}, exceeds: [2]int{2, 5}},
		{name: "no requests", servers: ask{tiny: "a"}, worker: ask{tiny: "a"}, fits: [2]int{2, 2}, exceeds: [2]int{2, 3}},
		{name: "servers without requests", servers: ask{tiny: "b"}, worker: ask{requests: cores("2"), tiny: "b"}, fits: [2]int{2, 2}, exceeds: [2]int{2, 3}},
		{name: "a pod limit that only servers hit", servers: ask{tiny: "c"}, worker: ask{requests: cores("1")}, fits: [2]int{4, 1}, exceeds: [2]int{5, 1}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			// One after the other: each needs all of the capacity that the other lacks.
			t.Run("fits", func(t *testing.T) {
				g := newGang(t, tc.servers.role(tc.fits[0]), tc.worker.role(tc.fits[1]))
				g.submit(t)
				(&example{job: g.name}).awaitPhase(t, g.namespace, paddlev1.Running)
				g.remove(t)
			})
			t.Run("one too many", func(t *testing.T) {
				g := newGang(t, tc.servers.role(tc.exceeds[0]), tc.worker.role(tc.exceeds[1]))
				bound := shared.watchBindings(t, g.namespace)
				g.submit(t)
				g.awaitPods(t, tc.exceeds[0]+tc.exceeds[1])
				shared.AwaitCycles(t, cyclesWithout)
				require.Empty(t, bound(), "pods of a gang that does not fit were bound")
				job, err := shared.Paddle.BatchV1().PaddleJobs(g.namespace).Get(t.Context(), g.name, metav1.GetOptions{})
				require.NoError(t, err)
				require.Equal(t, paddlev1.Pending, job.Status.Phase)
				scheduled := meta.FindStatusCondition(job.Status.Conditions, paddlev1.ConditionScheduled)
				require.NotNil(t, scheduled)
				require.Equal(t, metav1.ConditionFalse, scheduled.Status)
				require.NotEmpty(t, scheduled.Message, "it says why")
				g.remove(t)
			})
		})
	}
}

// gang is a PaddleJob in its own namespace.
type gang struct {
	namespace, name string
	job             *paddlev1.PaddleJob
}

func newGang(t *testing.T, servers, workers *paddlev1.ResourceSpec) *gang {
	t.Helper()
	return &gang{namespace: shared.Namespace(t), name: "gang", job: &paddlev1.PaddleJob{
		ObjectMeta: metav1.ObjectMeta{Name: "gang"}, Spec: paddlev1.PaddleJobSpec{PS: servers, Worker: workers},
	}}
}

func (g *gang) submit(t *testing.T) {
	t.Helper()
	_, err := shared.Paddle.BatchV1().PaddleJobs(g.namespace).Create(t.Context(), g.job, metav1.CreateOptions{})
	require.NoError(t, err)
}

func (g *gang) awaitPods(t *testing.T, want int) {
	t.Helper()
	shared.Await(t, fmt.Sprintf("%d pods", want), func(ctx context.Context) error {
		pods, err := shared.Kube.CoreV1().Pods(g.namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		if len(pods.Items) != want {
			return fmt.Errorf("there are %d", len(pods.Items))
		}
		return nil
	})
}

// remove frees the capacity for the next case.
func (g *gang) remove(t *testing.T) {
	t.Helper()
	require.NoError(t, shared.Paddle.BatchV1().PaddleJobs(g.namespace).Delete(t.Context(), g.name, metav1.DeleteOptions{}))
	g.awaitPods(t, 0)
	shared.Await(t, "the gang's children to be gone", func(ctx context.Context) error {
		jobs, err := shared.Volcano.BatchV1alpha1().Jobs(g.namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		groups, err := shared.Volcano.SchedulingV1beta1().PodGroups(g.namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		if len(jobs.Items) > 0 || len(groups.Items) > 0 {
			return errors.New("a Volcano Job or a PodGroup is left")
		}
		return nil
	})
}

// The documented file holds the PaddleJob first and its PodGroup second, so that the controller may have created the Volcano Job before
// it observes the PodGroup. The controller still honors it: another queue, and a gang that may start without one worker. All five pods fit
// nowhere, so that the job has not begun when the PodGroup comes. (test/jobs has the PodGroup that comes first.)
func TestPodGroupThatComesAfterTheVolcanoJobIsHonoured(t *testing.T) {
	t.Parallel()
	openQueue(t, "own-podgroup")
	g := newGang(t, ask{tiny: "d"}.role(2), ask{tiny: "d"}.role(3))
	g.submit(t)
	g.awaitPods(t, 5)
	groups := shared.Volcano.SchedulingV1beta1().PodGroups(g.namespace)
	group := &schedulingv1beta1.PodGroup{
		ObjectMeta: metav1.ObjectMeta{Name: g.name},
		Spec:       schedulingv1beta1.PodGroupSpec{Queue: "own-podgroup", MinMember: 4},
	}
	_, err := groups.Create(t.Context(), group, metav1.CreateOptions{})
	require.NoError(t, err)
	shared.Await(t, "four pods to run, as the PodGroup says", func(ctx context.Context) error {
		pods, err := shared.Kube.CoreV1().Pods(g.namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		return inPhase(pods.Items, corev1.PodRunning, 4)
	})
	all, err := groups.List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	require.Len(t, all.Items, 2, "the user's and the pods'")
	for i := range all.Items {
		require.Equal(t, group.Spec.Queue, all.Items[i].Spec.Queue, all.Items[i].Name)
		require.Equal(t, group.Spec.MinMember, all.Items[i].Spec.MinMember, all.Items[i].Name)
	}
	job, err := shared.Paddle.BatchV1().PaddleJobs(g.namespace).Get(t.Context(), g.name, metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, group.Spec.Queue, job.Status.Queue)
	awaitEvent(t, g.namespace, corev1.EventTypeNormal, "PodGroup "+g.name)
}

func openQueue(t *testing.T, name string) {
	t.Helper()
	queue := &schedulingv1beta1.Queue{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: schedulingv1beta1.QueueSpec{Weight: 1}}
	_, err := shared.Volcano.SchedulingV1beta1().Queues().Create(t.Context(), queue, metav1.CreateOptions{})
	require.NoError(t, err)
	shared.Await(t, "the queue to be open", func(ctx context.Context) error {
		got, err := shared.Volcano.SchedulingV1beta1().Queues().Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if got.Status.State != schedulingv1beta1.QueueStateOpen {
			return fmt.Errorf("it is %q", got.Status.State)
		}
		return nil
	})
}
