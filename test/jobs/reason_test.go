// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/util/retry"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	kubectlpaddle "github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/command"
	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/describe"
	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
)

// pluginReason returns the reason for which the plugin says that a gang is not placed, "" if it gives none.
func pluginReason(group *vcscheduling.PodGroup) string {
	for _, c := range group.Status.Conditions {
		if c.Type == "PaddleScheduled" && c.Status == corev1.ConditionFalse {
			return c.Reason
		}
	}
	return ""
}

// awaitReason waits until a job has the plugin's reason for which its gang is not placed.
func awaitReason(t *testing.T, job *v1.PaddleJob) *metav1.Condition {
	t.Helper()
	var found *metav1.Condition
	cluster.Await(t, job.Name+" to have the reason of the plugin", func(ctx context.Context) error {
		fresh, err := cluster.Paddle.BatchV1().PaddleJobs(job.Namespace).Get(ctx, job.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		groups, err := cluster.Volcano.SchedulingV1beta1().PodGroups(job.Namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		found = meta.FindStatusCondition(fresh.Status.Conditions, v1.ConditionScheduled)
		for i := range groups.Items {
			if found != nil && found.Status == metav1.ConditionFalse && found.Reason == pluginReason(&groups.Items[i]) {
				return nil
			}
		}
		return fmt.Errorf("it has %v", found)
	})
	return found
}

// why returns the output of kubectl paddle why as JSON.
func why(t *testing.T, job *v1.PaddleJob) (got describe.Description) {
	t.Helper()
	var out, errs bytes.Buffer
	args := []string{"--kubeconfig", cluster.Kubeconfig(), "--namespace", job.Namespace, "why", job.Name, "-o", "json"}
	code := kubectlpaddle.Run(t.Context(), args, genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errs})
	require.Zero(t, code, errs.String())
	require.NoError(t, json.Unmarshal(out.Bytes(), &got))
	return got
}

// within is how much later than on the PodGroup a reason may be on the PaddleJob.
const within = 3 * time.Second

// What the scheduler writes to the PodGroup of a gang without nodes is on the PaddleJob soon after.
func TestReasonOfTheSchedulerIsReportedSoon(t *testing.T) {
	for name, with := range map[string]change{
		"before the queue": func(job *v1.PaddleJob) {
			job.Spec.Worker.Template.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100000")}
		},
		"without a node": onNodes("none.has/this"),
	} {
		t.Run(name, func(t *testing.T) {
			namespace := cluster.Namespace(t)
			groups, err := cluster.Volcano.SchedulingV1beta1().PodGroups(namespace).Watch(t.Context(), metav1.ListOptions{})
			require.NoError(t, err)
			defer groups.Stop()
			jobs, err := cluster.Paddle.BatchV1().PaddleJobs(namespace).Watch(t.Context(), metav1.ListOptions{})
			require.NoError(t, err)
			defer jobs.Stop()
			job := create(t, collective(namespace, "waits", with))

			written := map[string]time.Time{} // by the scheduler, since when
			patience := time.After(2 * time.Minute)
			for {
				var event watch.Event
				select {
				case event = <-groups.ResultChan():
				case event = <-jobs.ResultChan():
				case <-patience:
					require.Fail(t, "the PaddleJob has no reason of the scheduler", "the PodGroup had %v", written)
				}
				switch object := event.Object.(type) {
				case *vcscheduling.PodGroup:
					if reason := pluginReason(object); reason != "" && written[reason].IsZero() {
						written[reason] = time.Now()
					}
					continue
				case *v1.PaddleJob:
					c := meta.FindStatusCondition(object.Status.Conditions, v1.ConditionScheduled)
					if c == nil || written[c.Reason].IsZero() {
						continue
					}
					t.Logf("%s: %s after it was on the PodGroup", c.Reason, time.Since(written[c.Reason]))
					require.Less(t, time.Since(written[c.Reason]), within)
					require.Contains(t, awaitEvent(t, job, corev1.EventTypeWarning, c.Reason), c.Message)
					require.NotContains(t, c.Message, c.Reason+":")
				default:
					require.Fail(t, "a watch was closed", "%v", event)
				}
				return
			}
		})
	}
}

// The API server refuses the pods: the reason says why, and the job runs once that is fixed.
func TestPodsThatTheServerRefuses(t *testing.T) {
	t.Parallel()
	one, none := resource.MustParse("1"), corev1.ResourceList{}
	quotas := func(namespace string, hard corev1.ResourceList) {
		t.Helper()
		quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "few"}, Spec: corev1.ResourceQuotaSpec{Hard: hard}}
		if len(hard) == 0 {
			require.NoError(t, cluster.Kube.CoreV1().ResourceQuotas(namespace).Delete(t.Context(), quota.Name, metav1.DeleteOptions{}))
			return
		}
		_, err := cluster.Kube.CoreV1().ResourceQuotas(namespace).Create(t.Context(), quota, metav1.CreateOptions{})
		require.NoError(t, err)
	}
	standard := func(namespace, level string) {
		t.Helper()
		patch := fmt.Appendf(nil, `{"metadata": {"labels": {"pod-security.kubernetes.io/enforce": %q}}}`, level)
		_, err := cluster.Kube.CoreV1().Namespaces().Patch(t.Context(), namespace, types.MergePatchType, patch, metav1.PatchOptions{})
		require.NoError(t, err)
	}
	for reason, tc := range map[string]struct {
		forbid, remedy func(namespace string)
		says           string
	}{
		"QuotaExceeded": {
			forbid: func(namespace string) { quotas(namespace, corev1.ResourceList{corev1.ResourcePods: one}) },
			remedy: func(namespace string) { quotas(namespace, none) },
			says:   "exceeded quota: few, requested: pods=1, used: pods=1, limited: pods=1",
		},
		"PodSecurityViolation": {
			forbid: func(namespace string) { standard(namespace, "restricted") },
			remedy: func(namespace string) { standard(namespace, "privileged") },
			says:   `violates PodSecurity "restricted:latest"`,
		},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			namespace := cluster.Namespace(t)
			tc.forbid(namespace)
			job := create(t, collective(namespace, "refused"))
			c := awaitCondition(t, job, v1.ConditionScheduled, metav1.ConditionFalse, reason)
			require.Contains(t, c.Message, tc.says)
			require.Contains(t, awaitEvent(t, job, corev1.EventTypeWarning, reason), tc.says)
			got := why(t, job)
			require.Equal(t, reason, got.Reason)
			require.Contains(t, got.Sentences[0].Text, tc.says)
			require.NotEmpty(t, got.Suggestions)
			tc.remedy(namespace)
			awaitPhase(t, job, v1.Running)
		})
	}
}

func TestBadInputIsRefusedAndRecovers(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		bad    change
		fix    change
		reason string
		says   string
	}{
		"another scheduler": {
			bad:    func(job *v1.PaddleJob) { job.Spec.Worker.Template.Spec.SchedulerName = "default-scheduler" },
			fix:    func(job *v1.PaddleJob) { job.Spec.Worker.Template.Spec.SchedulerName = "volcano" },
			reason: "InvalidSpec", says: "spec.worker.template.spec.schedulerName",
		},
		"unknown queue": {bad: queue("nowhere"), fix: queue(""), reason: "QueueNotFound", says: `queue "nowhere" does not exist`},
		"unknown priority class": {
			bad:    func(job *v1.PaddleJob) { job.Spec.Worker.Template.Spec.PriorityClassName = "urgent" },
			fix:    func(job *v1.PaddleJob) { job.Spec.Worker.Template.Spec.PriorityClassName = "" },
			reason: "PriorityClassNotFound", says: `priority class "urgent" does not exist`,
		},
		"refused by the API server": {
			bad: func(job *v1.PaddleJob) {
				job.Spec.Worker.Template.Spec.Containers[0].ImagePullPolicy = "Sometimes"
			},
			fix: func(job *v1.PaddleJob) {
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

			edit(t, job, tc.fix, workersRunForIfAny("2s"))
			awaitCondition(t, job, v1.ConditionStalled, metav1.ConditionFalse, "Proceeding")
			awaitPhase(t, job, v1.Completed)
			events, err := eventsOf(t.Context(), job)
			require.NoError(t, err)
			require.Contains(t, reasonsOf(events), tc.reason+" x1", "one event, not one with every sync")
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

func TestMisspeltCleanPodPolicyIsReported(t *testing.T) {
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

func TestClosedQueueIsReported(t *testing.T) {
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
