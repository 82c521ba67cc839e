// SPDX-License-Identifier: Apache-2.0

package real_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/test/live"
)

// What is left of a job's pods says its cleanPodPolicy; servers are stopped in any case. What is left can still be read.
func TestCleanPodPolicy(t *testing.T) {
	t.Parallel()
	live.RequireReal(t)
	live.SkipUnlessAll(t)
	for name, test := range map[string]struct {
		policy v1.CleanPodPolicy
		fails  bool
		cleans bool
	}{
		"unset after success":        {policy: "", cleans: true},
		"Always after success":       {policy: v1.CleanAlways, cleans: true},
		"OnCompletion after success": {policy: v1.CleanOnCompletion, cleans: true},
		"OnFailure after success":    {policy: v1.CleanOnFailure},
		"Never after success":        {policy: v1.CleanNever},
		"unset after failure":        {policy: "", fails: true},
		"Always after failure":       {policy: v1.CleanAlways, fails: true, cleans: true},
		"OnCompletion after failure": {policy: v1.CleanOnCompletion, fails: true},
		"OnFailure after failure":    {policy: v1.CleanOnFailure, fails: true, cleans: true},
		"Never after failure":        {policy: v1.CleanNever, fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newTrial(t, "job")
			phase, says := v1.Completed, "trained: "
			with := []change{intranet(v1.Service), workers(1), func(job *v1.PaddleJob) { job.Spec.PS.Replicas, job.Spec.CleanPodPolicy = 1, test.policy }}
			if test.fails {
				phase, says = v1.Failed, "crash before step 11"
				with = append(with, variable("TRAINER_CRASH_AT_STEP", "10"), runs(func(run *v1.RunPolicy) { run.BackoffLimit = ptr.To(int32(0)) }))
			}
			r.create(t, r.psJob(with...))
			r.awaitJob(t, string(phase), func(job *v1.PaddleJob) bool { return job.Status.Phase == phase })
			r.await(t, "worker", says, 1)
			left := map[bool][]string{true: nil, false: {"job-worker-0"}}[test.cleans]
			r.awaitPods(t, "the pods to be cleaned", func(pods []corev1.Pod) bool {
				var names []string
				for i := range pods {
					names = append(names, pods[i].Name)
				}
				return len(names) == len(left) && (len(left) == 0 || names[0] == left[0])
			})
			if !test.cleans {
				log, err := cluster.Kube.CoreV1().Pods(r.namespace).GetLogs("job-worker-0", &corev1.PodLogOptions{}).DoRaw(t.Context())
				require.NoError(t, err)
				require.Contains(t, string(log), says)
			}
		})
	}
}
