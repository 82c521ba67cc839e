// SPDX-License-Identifier: Apache-2.0

package observed

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
)

// failedPod is a worker of which a container has failed at a second.
func failedPod(index int32, container string, code int32, second int64) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("job-worker-%d", index), Labels: map[string]string{vcbatch.TaskSpecKey: builder.RoleWorker},
		},
		Spec: corev1.PodSpec{NodeName: "node"},
		Status: corev1.PodStatus{Phase: corev1.PodFailed, ContainerStatuses: []corev1.ContainerStatus{{
			Name: container, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, FinishedAt: metav1.Unix(second, 0)}},
		}}},
	}
}

func onExit(action v1.PodFailurePolicyAction, operator v1.PodFailurePolicyOperator, values ...int32) v1.PodFailurePolicyRule {
	return v1.PodFailurePolicyRule{Action: action, OnExitCodes: v1.PodFailurePolicyOnExitCodes{Operator: operator, Values: values}}
}

func TestPodFailurePolicy(t *testing.T) {
	t.Parallel()
	ofSidecar := onExit(v1.FailJob, v1.ExitCodeIn, 3)
	ofSidecar.OnExitCodes.ContainerName = ptr.To("sidecar")
	for name, tc := range map[string]struct {
		run  v1.RunPolicy
		pods []*corev1.Pod
		// permanent is the pod that fails the job, counts whether the failure counts.
		permanent string
		counts    bool
	}{
		"no rule":                   {pods: []*corev1.Pod{failedPod(0, "paddle", 3, 1)}, counts: true},
		"the deprecated alias":      {run: v1.RunPolicy{PermanentExitCodes: []int32{3}}, pods: []*corev1.Pod{failedPod(0, "paddle", 3, 1)}, permanent: "job-worker-0", counts: true},
		"another code of the alias": {run: v1.RunPolicy{PermanentExitCodes: []int32{4}}, pods: []*corev1.Pod{failedPod(0, "paddle", 3, 1)}, counts: true},
		"FailJob":                   {run: ruled(onExit(v1.FailJob, v1.ExitCodeIn, 3)), pods: []*corev1.Pod{failedPod(0, "paddle", 3, 1)}, permanent: "job-worker-0", counts: true},
		"FailJob of a later pod":    {run: ruled(onExit(v1.FailJob, v1.ExitCodeIn, 3)), pods: []*corev1.Pod{failedPod(0, "paddle", 1, 1), failedPod(1, "paddle", 3, 2)}, permanent: "job-worker-1", counts: true},
		"the first rule decides":    {run: ruled(onExit(v1.CountFailure, v1.ExitCodeIn, 3), onExit(v1.FailJob, v1.ExitCodeNotIn, 0)), pods: []*corev1.Pod{failedPod(0, "paddle", 3, 1)}, counts: true},
		"NotIn":                     {run: ruled(onExit(v1.FailJob, v1.ExitCodeNotIn, 1, 2)), pods: []*corev1.Pod{failedPod(0, "paddle", 3, 1)}, permanent: "job-worker-0", counts: true},
		"NotIn, and it is":          {run: ruled(onExit(v1.FailJob, v1.ExitCodeNotIn, 3)), pods: []*corev1.Pod{failedPod(0, "paddle", 3, 1)}, counts: true},
		"NotIn is no success":       {run: ruled(onExit(v1.FailJob, v1.ExitCodeNotIn, 3)), pods: []*corev1.Pod{failedPod(0, "paddle", 0, 1)}, counts: true},
		"another container":         {run: ruled(ofSidecar), pods: []*corev1.Pod{failedPod(0, "paddle", 3, 1)}, counts: true},
		"the container":             {run: ruled(ofSidecar), pods: []*corev1.Pod{failedPod(0, "sidecar", 3, 1)}, permanent: "job-worker-0", counts: true},
		"Ignore":                    {run: ruled(onExit(v1.IgnoreFailure, v1.ExitCodeIn, 42)), pods: []*corev1.Pod{failedPod(0, "paddle", 42, 1)}},
		"Ignore, and its peers":     {run: ruled(onExit(v1.IgnoreFailure, v1.ExitCodeIn, 42)), pods: []*corev1.Pod{failedPod(0, "paddle", 1, 2), failedPod(1, "paddle", 42, 1)}},
		"Ignore of a consequence":   {run: ruled(onExit(v1.IgnoreFailure, v1.ExitCodeIn, 42)), pods: []*corev1.Pod{failedPod(0, "paddle", 1, 1), failedPod(1, "paddle", 42, 2)}, counts: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &State{Now: time.Unix(10, 0), Job: &v1.PaddleJob{Spec: v1.PaddleJobSpec{RunPolicy: &tc.run}}, Pods: tc.pods}
			s.VolcanoJob = &vcbatch.Job{Spec: vcbatch.JobSpec{Policies: []vcbatch.LifecyclePolicy{{}}}}
			pod, _, ok := s.PermanentExit()
			require.Equal(t, tc.permanent, pod)
			require.Equal(t, tc.permanent != "", ok)
			require.Equal(t, tc.counts, s.GangFailedByItself())
		})
	}
}

func ruled(rules ...v1.PodFailurePolicyRule) v1.RunPolicy {
	return v1.RunPolicy{PodFailurePolicy: &v1.PodFailurePolicy{Rules: rules}}
}
