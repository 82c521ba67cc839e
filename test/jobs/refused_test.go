// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
)

func TestBadInputIsRefusedAndRecovers(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		bad    change
		mend   change
		reason string
		says   string
	}{
		"another scheduler": {
			bad:    func(job *v1.PaddleJob) { job.Spec.Worker.Template.Spec.SchedulerName = "default-scheduler" },
			mend:   func(job *v1.PaddleJob) { job.Spec.Worker.Template.Spec.SchedulerName = "volcano" },
			reason: "InvalidSpec", says: "spec.worker.template.spec.schedulerName",
		},
		"unknown queue": {bad: queue("nowhere"), mend: queue(""), reason: "QueueNotFound", says: `queue "nowhere" does not exist`},
		"unknown priority class": {
			bad:    func(job *v1.PaddleJob) { job.Spec.Worker.Template.Spec.PriorityClassName = "urgent" },
			mend:   func(job *v1.PaddleJob) { job.Spec.Worker.Template.Spec.PriorityClassName = "" },
			reason: "PriorityClassNotFound", says: `priority class "urgent" does not exist`,
		},
		"refused by the API server": {
			bad: func(job *v1.PaddleJob) {
				job.Spec.Worker.Template.Spec.Containers[0].ImagePullPolicy = "Sometimes"
			},
			mend: func(job *v1.PaddleJob) {
				job.Spec.Worker.Template.Spec.Containers[0].ImagePullPolicy = corev1.PullAlways
			},
			reason: "RefusedByServer", says: "Sometimes",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			space := cluster.Namespace(t)
			job := create(t, psJob(space, "bad", tc.bad, workersRunForIfAny("2s")))
			c := awaitCondition(t, job, v1.ConditionStalled, metav1.ConditionTrue, tc.reason)
			require.Contains(t, c.Message, tc.says)
			require.Contains(t, awaitEvent(t, job, corev1.EventTypeWarning, tc.reason), tc.says)
			require.Equal(t, tc.reason, why(t, job).Reason)
			awaitCondition(t, job, v1.ConditionCreated, metav1.ConditionFalse, "Stalled")
			now, err := objects(t.Context(), space)
			require.NoError(t, err)
			require.Equal(t, []string{"PaddleJob bad"}, slices.Collect(maps.Keys(now)), "nothing is created")

			edit(t, job, tc.mend, workersRunForIfAny("2s"))
			awaitCondition(t, job, v1.ConditionStalled, metav1.ConditionFalse, "Proceeding")
			awaitPhase(t, job, v1.Completed)
			events, err := eventsOf(t.Context(), job)
			require.NoError(t, err)
			require.Contains(t, told(events), tc.reason+" x1", "told once, not with every sync")
		})
	}
}

func workersRunForIfAny(duration string) change {
	return func(job *v1.PaddleJob) {
		if job.Spec.Worker != nil {
			workersRunFor(duration)(job)
		}
	}
}

// test/crd has all that the API server refuses.
func TestWrongSpecsAreRefusedWhenTheyAreSubmitted(t *testing.T) {
	t.Parallel()
	namespace := cluster.Namespace(t)
	for name, tc := range map[string]struct {
		job  *v1.PaddleJob
		says string
	}{
		"schema": {psJob(namespace, "none", workers(0)), "spec.worker.replicas"},
		"a rule": {psJob(namespace, "alone", func(job *v1.PaddleJob) { job.Spec.Worker = nil }), "spec.worker is missing: set it"},
		"name":   {psJob(namespace, strings.Repeat("n", 55)), "metadata.name is too long"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := cluster.Paddle.BatchV1().PaddleJobs(tc.job.Namespace).Create(t.Context(), tc.job, metav1.CreateOptions{})
			require.True(t, apierrors.IsInvalid(err), "%v", err)
			require.ErrorContains(t, err, tc.says)
		})
	}
}

func TestMisspeltCleanPodPolicyIsTold(t *testing.T) {
	t.Parallel()
	job := create(t, psJob(cluster.Namespace(t), "typo", cleans("OnComplete"), workersRunFor("1s")))
	require.Contains(t, awaitEvent(t, job, corev1.EventTypeWarning, "UnknownCleanPodPolicy"), `"OnComplete" does not exist`)
	c := awaitCondition(t, job, v1.ConditionCreated, metav1.ConditionTrue, "VolcanoJobCreated")
	require.Contains(t, c.Message, `"OnComplete" does not exist and is treated as Never`)
	awaitPhase(t, job, v1.Completed)
}

func TestJobStartsWhenItsQueueComes(t *testing.T) {
	t.Parallel()
	job := create(t, psJob(cluster.Namespace(t), "early", queue("comes-later"), workersRunFor("1s")))
	awaitCondition(t, job, v1.ConditionStalled, metav1.ConditionTrue, "QueueNotFound")
	makeQueue(t, "comes-later")
	done := awaitPhase(t, job, v1.Completed)
	require.Equal(t, "comes-later", done.Status.Queue)
}

func TestClosedQueueIsTold(t *testing.T) {
	t.Parallel()
	makeQueue(t, "closes")
	state := func(to vcscheduling.QueueState) {
		t.Helper()
		queues := cluster.Volcano.SchedulingV1beta1().Queues()
		// Volcano writes what the queue has allotted meanwhile.
		require.NoError(t, retry.RetryOnConflict(retry.DefaultRetry, func() error {
			found, err := queues.Get(t.Context(), "closes", metav1.GetOptions{})
			if err != nil {
				return err
			}
			found.Status.State = to
			_, err = queues.UpdateStatus(t.Context(), found, metav1.UpdateOptions{})
			return err
		}))
	}
	job := psJob(cluster.Namespace(t), "late", queue("closes"), workersRunFor("1s"))
	state(vcscheduling.QueueStateClosed)
	job = create(t, job)
	c := awaitCondition(t, job, v1.ConditionStalled, metav1.ConditionTrue, "QueueNotOpen")
	require.Contains(t, c.Message, "it is Closed")
	require.Equal(t, "QueueNotOpen", why(t, job).Reason)
	state(vcscheduling.QueueStateOpen)
	awaitPhase(t, job, v1.Completed)
}

// A PaddleJob that names no queue goes where the namespace says, as a Volcano Job of the user's does, and a gang restart
// keeps it there.
func TestQueueOfTheNamespace(t *testing.T) {
	t.Parallel()
	makeQueue(t, "of-the-namespace")
	space := cluster.Namespace(t)
	patch := fmt.Sprintf(`{"metadata":{"annotations":{%q:"of-the-namespace"}}}`, vcscheduling.QueueNameAnnotationKey)
	_, err := cluster.Kube.CoreV1().Namespaces().Patch(t.Context(), space, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	require.NoError(t, err)
	job := create(t, psJob(space, "names-none"))
	explicit := create(t, psJob(space, "names-default", queue("default")))
	awaitPhase(t, job, v1.Running)
	awaitPhase(t, explicit, v1.Running)
	for one, want := range map[*v1.PaddleJob]string{job: "of-the-namespace", explicit: "default"} {
		group := awaitPodGroup(t, one, func(group *vcscheduling.PodGroup) bool { return group.Spec.Queue == want })
		require.Equal(t, want, awaitVolcanoJob(t, one, nil).Spec.Queue)
		awaitSyncs(t, 20)
		later, err := cluster.Volcano.SchedulingV1beta1().PodGroups(space).Get(t.Context(), group.Name, metav1.GetOptions{})
		require.NoError(t, err)
		require.Equal(t, want, later.Spec.Queue)
	}
}
