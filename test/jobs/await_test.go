// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

// create makes a job, which is deleted when the test ends, so that the next has the cluster for itself.
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
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%q,%q:"1ms"}}}`, sandbox.AnnotationExitCode, code, sandbox.AnnotationRunFor)
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
	var last *v1.PaddleJob
	cluster.Await(t, job.Name+" to be "+what, func(ctx context.Context) error {
		fresh, err := cluster.Paddle.BatchV1().PaddleJobs(job.Namespace).Get(ctx, job.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if last = fresh; !want(fresh) {
			text, err := json.Marshal(fresh.Status)
			return errors.Join(fmt.Errorf("its status is %s", text), err)
		}
		return nil
	})
	return last
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
	var message string
	cluster.Await(t, "event "+reason+" of "+job.Name, func(ctx context.Context) error {
		events, err := eventsOf(ctx, job)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(events, func(e corev1.Event) bool { return e.Reason == reason && e.Type == kind })
		if i < 0 {
			return fmt.Errorf("it has %s", told(events))
		}
		message = events[i].Message
		return nil
	})
	return message
}

// eventsOf are the events about a job.
func eventsOf(ctx context.Context, job *v1.PaddleJob) ([]corev1.Event, error) {
	list, err := cluster.Kube.CoreV1().Events(job.Namespace).List(ctx, metav1.ListOptions{
		FieldSelector: "involvedObject.kind=PaddleJob,involvedObject.name=" + job.Name,
	})
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}

// told is each event's reason with how often it was told, in the order of the reasons.
func told(events []corev1.Event) []string {
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
