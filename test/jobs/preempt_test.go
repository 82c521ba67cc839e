// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/test/live"
)

// preempting is the configuration that deploy/docs/how-to/queues.md gives for preemption.
const preempting = `
actions: "enqueue, allocate, preempt, reclaim, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
    enablePreemptable: false
  - name: paddle
  - name: conformance
- plugins:
  - name: overcommit
  - name: drf
    enablePreemptable: false
  - name: predicates
  - name: proportion
  - name: nodeorder
`

// ranked sets a job's priority and its workers' GPUs.
func ranked(class, gpus string) change {
	return func(job *v1.PaddleJob) {
		job.Spec.SchedulingPolicy = &v1.SchedulingPolicy{PriorityClass: class}
		job.Spec.Worker.Template.Spec.Containers[0].Resources.Limits = corev1.ResourceList{"nvidia.com/gpu": resource.MustParse(gpus)}
	}
}

// A job of low priority is preempted again and again, and completes although no failure may be followed by a start. Its four workers
// take five of eight GPUs on every node that has some, and each job of high priority needs six of a node.
func TestPreemptedAgainAndAgain(t *testing.T) {
	t.Parallel()
	times := 3
	if live.All() {
		times = 10
	}
	for name, value := range map[string]int32{"low": 1, "high": 1000} {
		class := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Value: value}
		_, err := cluster.Kube.SchedulingV1().PriorityClasses().Create(t.Context(), class, metav1.CreateOptions{})
		require.NoError(t, err)
	}
	namespace := cluster.Namespace(t)
	low := create(t, collective(namespace, "low", workers(4), backoff(0), ranked("low", "5")))
	for n := range times {
		awaitRestarted(t, low, int32(n))
		high := create(t, collective(namespace, fmt.Sprintf("high-%d", n), workers(1), workersRunFor("1s"), ranked("high", "6")))
		awaitPhase(t, high, v1.Completed)
	}
	awaitRestarted(t, low, int32(times))
	endPods(t, namespace, "0", "low-worker-0", "low-worker-1", "low-worker-2", "low-worker-3")
	done := awaitPhase(t, low, v1.Completed)
	require.EqualValues(t, times, done.Status.Restarts)
	require.Zero(t, done.Status.Failures)
}
