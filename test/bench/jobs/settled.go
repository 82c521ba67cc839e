// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
)

// settled waits until the controller has written the last status of each job: that counts as well.
func (s *Settings) settled(ctx context.Context, stage *stage) error {
	completed := 0
	err := wait.PollUntilContextTimeout(ctx, time.Second, s.Patience, true, func(ctx context.Context) (bool, error) {
		list, err := stage.Paddle.BatchV1().PaddleJobs(namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, fmt.Errorf("list PaddleJobs: %w", err)
		}
		completed = 0
		for i := range list.Items {
			if list.Items[i].Status.Phase == v1.Completed {
				completed++
			}
		}
		return completed >= s.Jobs, nil
	})
	if err != nil {
		return fmt.Errorf("wait for the status of all jobs: %w; %d of %d are Completed", err, completed, s.Jobs)
	}
	return nil
}
