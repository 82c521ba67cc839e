// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/test/live"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

// preempting is the configuration that plugins/paddle/QUEUES.md gives for preemption.
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

// twoNodes are two nodes of eight GPUs.
func twoNodes() *sandbox.Topology {
	return &sandbox.Topology{
		Shapes: map[string]sandbox.Shape{"gpu": {CPU: "96", Memory: "1Ti", GPUs: 8, Product: "NVIDIA-A100-SXM4-80GB"}},
		Blocks: []sandbox.Block{{Racks: []sandbox.Rack{{Nodes: []sandbox.NodeGroup{{Shape: "gpu", Count: ptr(2)}}}}}},
	}
}

// ranked gives a job its priority and its workers their GPUs.
func ranked(class, gpus string) change {
	return func(job *v1.PaddleJob) {
		job.Spec.SchedulingPolicy = &v1.SchedulingPolicy{PriorityClass: class}
		job.Spec.Worker.Template.Spec.Containers[0].Resources.Limits = corev1.ResourceList{"nvidia.com/gpu": resource.MustParse(gpus)}
	}
}

// A job of low priority is preempted ten times, and completes although no failure may be followed by a start. Its two workers
// take five of eight GPUs on both nodes, and each job of high priority needs six of a node.
func TestPreemptedTenTimes(t *testing.T) {
	t.Parallel()
	const times = 10
	s, err := sandbox.Start(t.Context(), sandbox.Options{
		StateDir: "../../_output/test-jobs-preempt", Progress: os.Stderr, Topology: twoNodes(), SchedulerConf: preempting,
		Args: map[string][]string{sandbox.Scheduler: {live.SchedulePeriod}},
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Stop()) })
	p, err := live.Connect(s)
	require.NoError(t, err)
	namespace := p.NamespaceNamed(t, "preempt")
	for name, value := range map[string]int32{"low": 1, "high": 1000} {
		class := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Value: value}
		_, err := p.Kube.SchedulingV1().PriorityClasses().Create(t.Context(), class, metav1.CreateOptions{})
		require.NoError(t, err)
	}
	jobs := p.Paddle.BatchV1().PaddleJobs(namespace)
	submit := func(job *v1.PaddleJob) {
		_, err := jobs.Create(t.Context(), job, metav1.CreateOptions{})
		require.NoError(t, err)
	}
	await := func(name, what string, want func(*v1.PaddleJobStatus) bool) (last *v1.PaddleJob) {
		p.Await(t, name+" to be "+what, func(ctx context.Context) error {
			job, err := jobs.Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			if last = job; !want(&job.Status) {
				text, err := json.Marshal(job.Status)
				return errors.Join(fmt.Errorf("its status is %s", text), err)
			}
			return nil
		})
		return last
	}

	submit(collective(namespace, "low", backoff(0), ranked("low", "5")))
	for n := range int32(times + 1) {
		await("low", fmt.Sprintf("running after %d preemptions", n), func(status *v1.PaddleJobStatus) bool {
			return status.Phase == v1.Running && status.Restarts == n
		})
		if n == times {
			break
		}
		name := fmt.Sprintf("high-%d", n)
		submit(collective(namespace, name, workers(1), workersRunFor("1s"), ranked("high", "6")))
		await(name, "complete", func(status *v1.PaddleJobStatus) bool { return status.Phase == v1.Completed })
	}
	for _, pod := range []string{"low-worker-0", "low-worker-1"} {
		patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:"1s"}}}`, sandbox.AnnotationRunFor)
		_, err := p.Kube.CoreV1().Pods(namespace).Patch(t.Context(), pod, types.MergePatchType, patch, metav1.PatchOptions{})
		require.NoError(t, err)
	}
	done := await("low", "complete", func(status *v1.PaddleJobStatus) bool { return status.Phase == v1.Completed })
	require.EqualValues(t, times, done.Status.Restarts)
	require.Zero(t, done.Status.Failures)
}
