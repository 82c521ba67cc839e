// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	kubectlpaddle "github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/command"
	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/describe"
	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
)

// pluginReason is the reason for which the plugin says that a gang is not placed, "" if it gives none.
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

// why is what kubectl paddle why tells a program about a job.
func why(t *testing.T, job *v1.PaddleJob) (told describe.Description) {
	t.Helper()
	var out, errs bytes.Buffer
	args := []string{"--kubeconfig", cluster.Kubeconfig(), "--namespace", job.Namespace, "why", job.Name, "-o", "json"}
	code := kubectlpaddle.Run(t.Context(), args, genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errs})
	require.Zero(t, code, errs.String())
	require.NoError(t, json.Unmarshal(out.Bytes(), &told))
	return told
}

// within is how much later than on the PodGroup a reason may be on the PaddleJob.
const within = 3 * time.Second

// What the scheduler writes to the PodGroup of a gang without nodes is on the PaddleJob soon after.
func TestReasonOfTheSchedulerIsToldSoon(t *testing.T) {
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
					require.Fail(t, "a watch has ended", "%v", event)
				}
				return
			}
		})
	}
}

// The API server refuses the pods: the reason says why, and the job runs once that is put right.
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
			told := why(t, job)
			require.Equal(t, reason, told.Reason)
			require.Contains(t, told.Sentences[0].Text, tc.says)
			require.NotEmpty(t, told.Suggestions)
			tc.remedy(namespace)
			awaitPhase(t, job, v1.Running)
		})
	}
}
