// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"context"
	"fmt"
	"testing"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

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
				err = fmt.Errorf("it is %g (told: %t), not %g or more", value, found, least)
			}
			return err
		})
	}
}
