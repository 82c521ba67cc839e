// SPDX-License-Identifier: Apache-2.0

package real_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/test/live"
)

// slowly lets a job train for long enough that a test can do something to it, also on a fast machine.
var slowly = variable("TRAINER_STEP_TIME", "200ms")

// A worker crashes: the gang starts again, goes on from its checkpoint, and trains the model that it would have trained.
func TestWorkerCrashes(t *testing.T) {
	t.Parallel()
	live.RequireReal(t)
	for name, changes := range onEveryChange(map[string][]change{
		"ps, PodIP":                           {intranet(v1.PodIP)},
		"ps, Service":                         {intranet(v1.Service), gloo(1)},
		"collective by the launcher, Service": {intranet(v1.Service), noServers, launched},
		"with a backoff limit":                {intranet(v1.Service), runs(func(run *v1.RunPolicy) { run.BackoffLimit = ptr.To(int32(1)) })},
	}, "ps, Service") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newTrial(t, "job")
			r.create(t, r.psJob(append(changes, variable("TRAINER_CRASH_AT_STEP", "25"), variable("TRAINER_CRASH_RANK", "1"))...))
			done := r.awaitTrained(t, 2)
			require.EqualValues(t, 1, done.Status.Restarts)
			require.Len(t, r.said("worker", "crash before step 26 in attempt 1, as asked for"), 1)
			require.Len(t, r.said("worker", "resumed from step 20"), 2)
			// Who lost the other by that may be seen first.
			r.awaitEvent(t, corev1.EventTypeWarning, "Restarting", "restart 1 of ", "job-worker-", " exited with code ")
		})
	}
}

// A server is lost: the gang starts again, and goes on from its checkpoint.
func TestServerIsLost(t *testing.T) {
	t.Parallel()
	live.RequireReal(t)
	live.SkipUnlessAll(t)
	for name, lose := range map[string]func(*testing.T, *trial){
		"its process is killed": func(t *testing.T, r *trial) { r.kill(t, "job-ps-1") },
		"its pod is deleted": func(t *testing.T, r *trial) {
			require.NoError(t, cluster.Kube.CoreV1().Pods(r.namespace).Delete(t.Context(), "job-ps-1", metav1.DeleteOptions{}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newTrial(t, "job")
			r.create(t, r.psJob(intranet(v1.Service), slowly))
			r.await(t, "worker", "step 20 loss", 2)
			lose(t, r)
			done := r.awaitTrained(t, 2)
			require.EqualValues(t, 1, done.Status.Restarts)
			require.Len(t, r.said("worker", "resumed from step "), 2)
			require.Empty(t, r.said("worker", "resumed from step 60"))
			r.awaitEvent(t, corev1.EventTypeWarning, "Restarting", "restart 1", ": job-")
		})
	}
}

// kill ends the program of a pod as the kernel does that has no memory left.
func (r *trial) kill(t *testing.T, pod string) {
	t.Helper()
	found, err := filepath.Glob("/proc/[0-9]*/environ")
	require.NoError(t, err)
	killed := 0
	for _, path := range found {
		environ, err := os.ReadFile(path) //nolint:gosec // of the machine's own
		if err != nil {
			continue // it has ended, or is somebody else's
		}
		variables := "\x00" + string(environ)
		if !strings.Contains(variables, "\x00"+marker+"="+r.folder+"\x00") || !strings.Contains(variables, "\x00HOSTNAME="+pod+"\x00") {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		require.NoError(t, err)
		require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
		killed++
	}
	require.Equal(t, 1, killed, "processes of %s", pod)
}

// awaitEvent waits for an event about the job whose message has all words in it.
func (r *trial) awaitEvent(t *testing.T, kind, reason string, words ...string) {
	t.Helper()
	cluster.Await(t, "the event "+reason, func(ctx context.Context) error {
		events, err := cluster.Kube.CoreV1().Events(r.namespace).List(ctx, metav1.ListOptions{FieldSelector: "involvedObject.kind=PaddleJob,involvedObject.name=" + r.job})
		if err != nil {
			return err
		}
		var seen []string
		for i := range events.Items {
			e := &events.Items[i]
			missing := e.Type != kind || e.Reason != reason
			for _, word := range words {
				missing = missing || !strings.Contains(e.Message, word)
			}
			if !missing {
				return nil
			}
			seen = append(seen, fmt.Sprintf("%s %s: %s", e.Type, e.Reason, e.Message))
		}
		return errors.New("there are: " + strings.Join(seen, "; "))
	})
}
