// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"context"
	"fmt"
	"regexp"
	"testing"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
)

// Not parallel: a controller that is restarted counts from 0.
func TestMetricsOfJobs(t *testing.T) {
	job := create(t, psJob(namespace(t), "counted", workersRunFor("1s"), workersFail("1", "0")))
	awaitPhase(t, job, v1.Completed)
	for _, line := range []string{
		`paddlejob_controller_jobs\{phase="Completed"\} [1-9]`,
		`paddlejob_controller_jobs\{phase="Suspended"\} [0-9]`,
		`paddlejob_controller_time_to_running_seconds_count [1-9]`,
		`paddlejob_controller_restarts_total\{cause="PodFailed"\} [1-9]`,
	} {
		awaitLine(t, line)
	}
}

// awaitLine waits for a line in the controller's metrics.
func awaitLine(t *testing.T, line string) {
	t.Helper()
	await(t, line, func(ctx context.Context) error {
		text, err := metricsOfController(ctx)
		if err == nil && !regexp.MustCompile("(?m)^"+line).MatchString(text) {
			err = fmt.Errorf("no such line among %q", regexp.MustCompile("(?m)^paddlejob_controller_[jrt].*$").FindAllString(text, -1))
		}
		return err
	})
}
