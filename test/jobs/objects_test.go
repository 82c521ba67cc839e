// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/test/live"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox/stages"
)

// kinds are all kinds of objects that a namespace can have.
var kinds []schema.GroupVersionResource

// visit calls do for each object in a namespace, but for those that every namespace has.
func visit(ctx context.Context, namespace string, do func(kindAndName string, object metav1.Object) error) error {
	for _, kind := range kinds {
		list, err := cluster.Dynamic.Resource(kind).Namespace(namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return fmt.Errorf("list %s: %w", kind.Resource, err)
		}
		for i := range list.Items {
			object := &list.Items[i]
			if live.InEveryNamespace(object) {
				continue
			}
			if err := do(object.GetKind()+" "+object.GetName(), object); err != nil {
				return err
			}
		}
	}
	return nil
}

// objects returns the resource versions of all objects in a namespace by kind and name.
func objects(ctx context.Context, namespace string) (map[string]string, error) {
	found := map[string]string{}
	return found, visit(ctx, namespace, func(name string, object metav1.Object) error {
		found[name] = object.GetResourceVersion()
		return nil
	})
}

// awaitEmpty waits until nothing is left in a namespace.
func awaitEmpty(t *testing.T, namespace string) {
	t.Helper()
	cluster.Await(t, "nothing to be left", func(ctx context.Context) error {
		return visit(ctx, namespace, func(name string, _ metav1.Object) error { return fmt.Errorf("there is %s", name) })
	})
}

// syncs returns how often the controller has looked at a job since it started.
func syncs(ctx context.Context) (int, error) {
	values, err := cluster.Metrics(ctx, sandbox.Controller)
	count := 0.0
	for name, value := range values {
		if strings.HasPrefix(name, "paddlejob_controller_sync_duration_seconds_count{") {
			count += value
		}
	}
	return int(count), err
}

// awaitSyncs waits until the controller has looked at jobs some more times.
func awaitSyncs(t *testing.T, more int) {
	t.Helper()
	first, err := syncs(t.Context())
	require.NoError(t, err)
	cluster.Await(t, fmt.Sprintf("%d more syncs", more), func(ctx context.Context) error {
		now, err := syncs(ctx)
		if err == nil && now < first+more {
			err = fmt.Errorf("there were %d", now-first)
		}
		return err
	})
}

// change is one difference from a plain job.
type change func(*v1.PaddleJob)

// psJob returns a job of two servers and two workers, which run until the test ends them.
func psJob(namespace, name string, changes ...change) *v1.PaddleJob {
	return collective(namespace, name, append([]change{func(job *v1.PaddleJob) { job.Spec.PS = role(2) }}, changes...)...)
}

// collective returns a job of two workers.
func collective(namespace, name string, changes ...change) *v1.PaddleJob {
	job := &v1.PaddleJob{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	job.Spec.Worker = role(2)
	job.Spec.CleanPodPolicy = v1.CleanNever
	for _, c := range changes {
		c(job)
	}
	return job
}

func role(replicas int) *v1.ResourceSpec {
	return &v1.ResourceSpec{Replicas: int32(replicas), Template: corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{stages.AnnotationRunFor: "forever"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "paddle", Image: "paddle"}}},
	}}
}

// workersRunFor lets the workers succeed after a time, for example "1s".
func workersRunFor(duration string) change {
	return annotateWorkers(stages.AnnotationRunFor, duration)
}

// workersFail lets the workers of one attempt exit with a code; every attempt's where attempt is empty.
func workersFail(code, attempt string) change {
	return func(job *v1.PaddleJob) {
		annotateWorkers(stages.AnnotationExitCode, code)(job)
		if attempt != "" {
			annotateWorkers(stages.AnnotationFailAttempt, attempt)(job)
		}
	}
}

func annotateWorkers(key, value string) change {
	return func(job *v1.PaddleJob) { job.Spec.Worker.Template.Annotations[key] = value }
}

// byService lets the pods reach each other by names.
func byService(job *v1.PaddleJob) { job.Spec.Intranet = v1.Service }

func cleans(policy v1.CleanPodPolicy) change {
	return func(job *v1.PaddleJob) { job.Spec.CleanPodPolicy = policy }
}

func workers(replicas int) change {
	return func(job *v1.PaddleJob) { job.Spec.Worker.Replicas = int32(replicas) }
}

// runs sets a job's run policy.
func runs(edit func(*v1.RunPolicy)) change {
	return func(job *v1.PaddleJob) {
		if job.Spec.RunPolicy == nil {
			job.Spec.RunPolicy = &v1.RunPolicy{}
		}
		edit(job.Spec.RunPolicy)
	}
}

func suspend(yes bool) change {
	return runs(func(run *v1.RunPolicy) { run.Suspend = &yes })
}

// image returns that of the workers' training container.
func image(name string) change {
	return func(job *v1.PaddleJob) { job.Spec.Worker.Template.Spec.Containers[0].Image = name }
}

func queue(name string) change {
	return func(job *v1.PaddleJob) {
		if job.Spec.SchedulingPolicy == nil {
			job.Spec.SchedulingPolicy = &v1.SchedulingPolicy{}
		}
		job.Spec.SchedulingPolicy.Queue = name
	}
}

// onNodes lets no pod be placed where no node has the label.
func onNodes(label string) change {
	return func(job *v1.PaddleJob) {
		for _, spec := range []*v1.ResourceSpec{job.Spec.PS, job.Spec.Worker} {
			if spec != nil {
				spec.Template.Spec.NodeSelector = map[string]string{label: "true"}
			}
		}
	}
}

// create creates a job, which is deleted when the test ends, so that the next has the cluster for itself.
func create(t *testing.T, job *v1.PaddleJob) *v1.PaddleJob {
	t.Helper()
	jobs := cluster.Paddle.BatchV1().PaddleJobs(job.Namespace)
	created, err := jobs.Create(t.Context(), job, metav1.CreateOptions{})
	require.NoError(t, err)
	t.Cleanup(func() {
		if err := jobs.Delete(context.Background(), job.Name, metav1.DeleteOptions{}); !apierrors.IsNotFound(err) {
			require.NoError(t, err)
		}
	})
	return created
}

// edit changes a job's spec.
func edit(t *testing.T, job *v1.PaddleJob, changes ...change) {
	t.Helper()
	jobs := cluster.Paddle.BatchV1().PaddleJobs(job.Namespace)
	require.NoError(t, retry.RetryOnConflict(retry.DefaultRetry, func() error {
		fresh, err := jobs.Get(t.Context(), job.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		for _, c := range changes {
			c(fresh)
		}
		_, err = jobs.Update(t.Context(), fresh, metav1.UpdateOptions{})
		return err
	}))
}

// endPods ends pods that run with an exit code.
func endPods(t *testing.T, namespace, code string, pods ...string) {
	t.Helper()
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%q,%q:"1ms"}}}`, stages.AnnotationExitCode, code, stages.AnnotationRunFor)
	for _, pod := range pods {
		_, err := cluster.Kube.CoreV1().Pods(namespace).Patch(t.Context(), pod, types.MergePatchType, patch, metav1.PatchOptions{})
		require.NoError(t, err)
	}
}

// setPhase writes a pod's phase in the place of its kubelet.
func setPhase(t *testing.T, namespace, pod string, phase corev1.PodPhase) {
	t.Helper()
	patch := fmt.Appendf(nil, `{"status":{"phase":%q}}`, phase)
	_, err := cluster.Kube.CoreV1().Pods(namespace).Patch(t.Context(), pod, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
	require.NoError(t, err)
}

// podUIDs returns the UIDs of the pods in a namespace by name.
func podUIDs(t *testing.T, namespace string) map[string]types.UID {
	t.Helper()
	list, err := cluster.Kube.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	uids := map[string]types.UID{}
	for i := range list.Items {
		uids[list.Items[i].Name] = list.Items[i].UID
	}
	return uids
}

// awaitJob waits until a job is as wanted and returns it.
func awaitJob(t *testing.T, job *v1.PaddleJob, what string, want func(*v1.PaddleJob) bool) *v1.PaddleJob {
	t.Helper()
	return cluster.AwaitJob(t, job.Namespace, job.Name, what, want)
}

func awaitPhase(t *testing.T, job *v1.PaddleJob, phase v1.Phase) *v1.PaddleJob {
	t.Helper()
	return awaitJob(t, job, string(phase), func(job *v1.PaddleJob) bool { return job.Status.Phase == phase })
}

// awaitCondition waits for a condition with a status and a reason and returns it.
func awaitCondition(t *testing.T, job *v1.PaddleJob, kind string, status metav1.ConditionStatus, reason string) *metav1.Condition {
	t.Helper()
	fresh := awaitJob(t, job, fmt.Sprintf("%s=%s (%s)", kind, status, reason), func(job *v1.PaddleJob) bool {
		c := meta.FindStatusCondition(job.Status.Conditions, kind)
		return c != nil && c.Status == status && c.Reason == reason && c.ObservedGeneration == job.Generation
	})
	return meta.FindStatusCondition(fresh.Status.Conditions, kind)
}

// awaitEvent waits for an event about a job and returns its message.
func awaitEvent(t *testing.T, job *v1.PaddleJob, kind, reason string) string {
	t.Helper()
	return cluster.AwaitEvent(t, job.Namespace, job.Name, kind, reason)
}

// eventsOf returns the events about a job.
func eventsOf(ctx context.Context, job *v1.PaddleJob) ([]corev1.Event, error) {
	list, err := cluster.Kube.CoreV1().Events(job.Namespace).List(ctx, metav1.ListOptions{
		FieldSelector: "involvedObject.kind=PaddleJob,involvedObject.name=" + job.Name,
	})
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}

// reasonsOf returns each event's reason with its count, in the order of the reasons.
func reasonsOf(events []corev1.Event) []string {
	counts := map[string]int32{}
	for i := range events {
		counts[events[i].Reason] += max(events[i].Count, 1)
	}
	var lines []string
	for reason, count := range counts {
		lines = append(lines, fmt.Sprintf("%s x%d", reason, count))
	}
	slices.Sort(lines)
	return lines
}
