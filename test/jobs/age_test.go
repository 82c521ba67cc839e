// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
)

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
