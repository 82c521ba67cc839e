// SPDX-License-Identifier: Apache-2.0

package command

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

// withKubectl puts a program into PATH that prints its arguments, and fails for previous runs.
func withKubectl(t *testing.T) {
	t.Helper()
	folder := t.TempDir()
	script := "#!/bin/sh\nfor arg; do case $arg in --kubeconfig=*|--server=*) ;; *) printf '%s ' \"$arg\";; esac; done; echo\ncase $* in *--previous*) exit 1;; esac\n"
	require.NoError(t, os.WriteFile(filepath.Join(folder, "kubectl"), []byte(script), 0o700)) //nolint:gosec // a program
	t.Setenv("PATH", folder+":/usr/bin:/bin")
}

// logs is kubectl logs with the labels of pods, and passes on the flags of the connection.
func TestLogs(t *testing.T) {
	withKubectl(t)
	s := newShell(t)
	const selector = "logs --selector=batch.paddlepaddle.org/job-name=resnet,paddle-res-type=worker"
	for _, test := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"logs", "resnet"}, 0, selector + " --prefix=true --tail=-1 --max-log-requests=64 --namespace=team \n"},
		{[]string{"logs", "resnet", "--rank", "1", "-f", "--tail", "3", "--as", "me"}, 0, selector + ",volcano.sh/task-index=1 --prefix=false --tail=-1 --max-log-requests=64 --as=me --follow=true --namespace=team --tail=3 \n"},
		{[]string{"logs", "resnet", "--previous"}, 1, selector + " --prefix=true --tail=-1 --max-log-requests=64 --namespace=team --previous=true \n"},
		{[]string{"logs", "resnet", "--role", "ps"}, 3, ""}, {[]string{"logs", "resnet", "--rank", "2"}, 3, ""}, {[]string{"logs", "huge", "-f"}, 3, ""},
		{[]string{"logs", "resnet", "--role", "king"}, 2, ""}, {[]string{"logs", "gone"}, 3, ""},
	} {
		out, errOut, code := s.run(t, test.args...)
		require.Equal(t, test.code, code, "%v: %s", test.args, errOut)
		require.Equal(t, test.want, out)
		if test.want != "" {
			require.Empty(t, errOut, "kubectl prints its own errors")
		}
	}
	_, errOut, _ := s.run(t, "logs", "resnet", "--role", "king")
	require.Contains(t, errOut, `error: --role "king" is not one of ps, worker, heter`)
	_, errOut, _ = s.run(t, "logs")
	require.Contains(t, errOut, "error: name one job, not 0")
}

func TestStarts(t *testing.T) {
	pod := &corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodPending}}
	require.True(t, starts(pod))
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "paddle"}, {Name: "side", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}
	require.False(t, starts(pod))
	require.False(t, starts(&corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodFailed}}))
}
