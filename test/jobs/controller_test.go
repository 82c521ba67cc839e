// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"context"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/app"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

// longestWait is longer than the controller puts off any write, which are those of texts.
const longestWait = 31 * time.Second

func TestIdleSyncsWriteNothing(t *testing.T) {
	t.Parallel()
	space := cluster.Namespace(t)
	idle := map[string]struct {
		with  []change
		phase v1.Phase
	}{
		"by-pod-ip":  {phase: v1.Running},
		"by-service": {with: []change{byService}, phase: v1.Running},
		"completed":  {with: []change{workersRunFor("1s")}, phase: v1.Completed},
		"below-the-minimum": {phase: v1.Running, with: []change{func(job *v1.PaddleJob) {
			job.Spec.SchedulingPolicy = &v1.SchedulingPolicy{MinAvailable: ptr(int32(3))}
		}}},
		"suspended":        {with: []change{suspend(true)}, phase: v1.Suspended},
		"failed-too-often": {with: []change{backoff(0), workersRunFor("1s"), workersFail("1", "")}, phase: v1.Failed},
		"stalled":          {phase: v1.Pending, with: []change{queue("nowhere")}},
	}
	var jobs []*v1.PaddleJob
	for name, tc := range idle {
		jobs = append(jobs, create(t, psJob(space, name, tc.with...)))
	}
	for _, job := range jobs {
		awaitPhase(t, job, idle[job.Name].phase)
	}
	// What follows the change of phase, such as servers that stop and counts that are written later.
	var before map[string]string
	cluster.Await(t, "everything to settle", func(ctx context.Context) error {
		first, err := objects(ctx, space)
		if err != nil {
			return err
		}
		awaitResyncs(t, longestWait)
		if before, err = objects(ctx, space); err == nil && fmt.Sprint(first) != fmt.Sprint(before) {
			err = fmt.Errorf("%v became %v", first, before)
		}
		return err
	})
	awaitResyncs(t, 10*resync)
	after, err := objects(t.Context(), space)
	require.NoError(t, err)
	require.Equal(t, before, after)
}

// awaitResyncs waits until the controller has looked at all jobs again and again for some time. Syncs of other tests' jobs
// are counted too, so that the time counts as well.
func awaitResyncs(t *testing.T, least time.Duration) {
	t.Helper()
	for begin := time.Now(); time.Since(begin) < least; {
		awaitSyncs(t, 10)
	}
}

func ptr[T any](value T) *T { return &value }

// What kubectl get shows of a job does not wait for other jobs' writes: it is 10 seconds old at most, and this machine may
// take as much again to look.
func TestNoJobsCountsWaitForAnothers(t *testing.T) {
	const many, oldest = 60, 20 * time.Second
	space := cluster.Namespace(t)
	var jobs []*v1.PaddleJob
	for i := range many {
		jobs = append(jobs, create(t, collective(space, fmt.Sprintf("count-%d", i), elastic(1, 2), workers(1))))
	}
	shows := func(ready string, each func(*v1.PaddleJob)) func(context.Context) error {
		return func(ctx context.Context) error {
			list, err := cluster.Paddle.BatchV1().PaddleJobs(space).List(ctx, metav1.ListOptions{})
			if err != nil {
				return err
			}
			for i := range list.Items {
				if job := &list.Items[i]; job.Status.Worker == nil || job.Status.Worker.Ready != ready {
					err = fmt.Errorf("%s shows %+v", job.Name, job.Status.Worker)
				} else {
					each(job)
				}
			}
			return err
		}
	}
	cluster.Await(t, "all jobs to run", shows("1/1", func(*v1.PaddleJob) {}))
	for _, job := range jobs {
		edit(t, job, workers(2))
	}
	seen := map[string]time.Time{}
	cluster.Await(t, "all jobs to show their second worker", shows("2/2", func(job *v1.PaddleJob) {
		if _, ok := seen[job.Name]; !ok {
			seen[job.Name] = time.Now()
		}
	}))
	for name, at := range seen {
		pod, err := cluster.Kube.CoreV1().Pods(space).Get(t.Context(), name+"-worker-1", metav1.GetOptions{})
		require.NoError(t, err)
		require.NotNil(t, pod.Status.ContainerStatuses[0].State.Running)
		require.Less(t, at.Sub(pod.Status.ContainerStatuses[0].State.Running.StartedAt.Time), oldest, name)
	}
}

// instead runs a controller with other flags in the place of the sandbox's, until the test ends.
func instead(t *testing.T, with func(*app.Options)) {
	t.Helper()
	down(t, sandbox.Controller, syscall.SIGTERM)
	o := app.NewOptions()
	o.Kubeconfig, o.HTTPAddress, o.LeaderElection.LeaderElect = cluster.Kubeconfig(), "", false
	with(o)
	require.NoError(t, o.Validate())
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- app.Run(ctx, o) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-ended)
	})
}

func TestFlags(t *testing.T) {
	mine, others := cluster.Namespace(t), cluster.NamespaceNamed(t, t.Name()+"-others")
	before := create(t, collective(mine, "before"))
	awaitPhase(t, before, v1.Running)
	written := awaitEnvironment(t, before, "")

	instead(t, func(o *app.Options) { o.Namespace, o.Render.DefaultIntranet = mine, v1.Service })
	ignored := create(t, collective(others, "ignored"))
	after := create(t, collective(mine, "after", workersRunFor("1s")))
	awaitPhase(t, after, v1.Completed)
	cm, err := cluster.Kube.CoreV1().ConfigMaps(mine).Get(t.Context(), after.Name, metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, "after-worker-0.after,after-worker-1.after", cm.Data["PADDLE_TRAINERS"])
	require.NotContains(t, cm.Annotations, v1.GangAnnotation)

	still, err := cluster.Kube.CoreV1().ConfigMaps(mine).Get(t.Context(), before.Name, metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, written.ResourceVersion, still.ResourceVersion, "a job that exists is left as it was made")
	ignored, err = cluster.Paddle.BatchV1().PaddleJobs(others).Get(t.Context(), ignored.Name, metav1.GetOptions{})
	require.NoError(t, err)
	require.Empty(t, ignored.Status, "the job is in another namespace")
}

func TestMetricsOfJobs(t *testing.T) {
	t.Parallel()
	job := create(t, psJob(cluster.Namespace(t), "counted", workersRunFor("1s"), workersFail("1", "0")))
	awaitPhase(t, job, v1.Completed)
	for name, least := range map[string]float64{
		`paddlejob_controller_jobs{phase="Completed"}`:           1,
		`paddlejob_controller_jobs{phase="Suspended"}`:           0,
		`paddlejob_controller_time_to_running_seconds_count`:     1,
		`paddlejob_controller_restarts_total{cause="PodFailed"}`: 1,
	} {
		cluster.Await(t, name, func(ctx context.Context) error {
			values, err := cluster.Metrics(ctx, sandbox.Controller)
			if value, found := values[name]; err == nil && (!found || value < least) {
				err = fmt.Errorf("it is %g (found: %t), not %g or more", value, found, least)
			}
			return err
		})
	}
}
