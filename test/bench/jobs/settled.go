// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

// settled waits until the controller has written the last status of each job: that counts as well.
func (s *Settings) settled(ctx context.Context, stage *stage) error {
	completed := 0
	err := wait.PollUntilContextTimeout(ctx, time.Second, s.Patience, true, func(ctx context.Context) (bool, error) {
		list, err := stage.paddle.BatchV1().PaddleJobs(namespace).List(ctx, metav1.ListOptions{})
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

var highWater = regexp.MustCompile(`VmHWM:\s+(\d+) kB`)

// peakMemory of the controller of a sandbox, in MiB: the most that was resident (proc(5), VmHWM).
func peakMemory(folder string) (float64, error) {
	for _, c := range sandbox.ComponentStatuses(folder) {
		if c.Name != sandbox.Controller {
			continue
		}
		text, err := os.ReadFile("/proc/" + c.Process + "/status")
		if err != nil {
			return 0, fmt.Errorf("read the controller's memory: %w", err)
		}
		found := highWater.FindSubmatch(text)
		if found == nil {
			return 0, fmt.Errorf("read the controller's memory: /proc/%s/status has no VmHWM", c.Process)
		}
		kib, err := strconv.ParseFloat(string(found[1]), 64)
		if err != nil {
			return 0, fmt.Errorf("read the controller's memory: %w", err)
		}
		return kib / 1024, nil
	}
	return 0, fmt.Errorf("read the controller's memory: the sandbox in %s runs none", folder)
}
