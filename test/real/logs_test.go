// SPDX-License-Identifier: Apache-2.0

package real_test

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/command"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
	"github.com/paddle-volcano/paddle-volcano/test/live"
)

// paddle is what kubectl paddle says about the trial.
func (r *trial) paddle(ctx context.Context, args ...string) (out, errOut string, code int) {
	var stdout, stderr bytes.Buffer
	args = append([]string{"--kubeconfig", cluster.Kubeconfig(), "--namespace", r.namespace}, args...)
	code = command.Run(ctx, args, genericiooptions.IOStreams{In: strings.NewReader(""), Out: &stdout, ErrOut: &stderr})
	return stdout.String(), stderr.String(), code
}

// What users see with `kubectl paddle logs`: of each role while it trains, by rank, and with -f until the end.
func TestLogs(t *testing.T) {
	t.Parallel()
	live.RequireReal(t)
	if _, err := exec.LookPath("kubectl"); err != nil {
		t.Skip("kubectl is not in PATH, which kubectl paddle logs runs: `make kubectl` builds _output/bin/kubectl")
	}
	r := newTrial(t, "job")
	r.create(t, r.psJob(heter(2), gloo(1)))
	r.awaitPods(t, "all made", func(pods []corev1.Pod) bool { return len(pods) == 6 })
	type said struct {
		out, errOut string
		code        int
	}
	ends := map[string]string{"ps": "TRAINER 1 is here", "worker": "trained: loss ", "heter": "all 2 trainers are done"}
	followed := map[string]chan said{}
	for _, role := range observed.Roles {
		followed[role] = make(chan said, 1)
		go func() {
			out, errOut, code := r.paddle(t.Context(), "logs", "job", "--role", role, "-f")
			followed[role] <- said{out, errOut, code}
		}()
	}

	r.await(t, "worker", "step 10 loss", 2)
	out, errOut, code := r.paddle(t.Context(), "logs", "job", "--rank", "1")
	require.Zero(t, code, errOut)
	require.Contains(t, out, "trainer 1 of 2, servers [")
	require.NotContains(t, out, "[pod/", "one pod's lines need no name")
	require.NotContains(t, out, "trainer 0 of 2")
	out, errOut, code = r.paddle(t.Context(), "logs", "job", "--role", "worker", "--tail", "1")
	require.Zero(t, code, errOut)
	require.Len(t, strings.Split(strings.TrimSpace(out), "\n"), 2, "the last line of each worker: %s", out)

	r.awaitTrained(t, 2)
	for _, role := range observed.Roles {
		got := <-followed[role]
		require.Zero(t, got.code, "%s: %s", role, got.errOut)
		for rank := range 2 {
			require.Contains(t, got.out, fmt.Sprintf("[pod/job-%s-%d/", role, rank))
		}
		require.Contains(t, got.out, ends[role], "%s", role)
	}
}
