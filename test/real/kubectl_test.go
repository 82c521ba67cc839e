// SPDX-License-Identifier: Apache-2.0

package real_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/kubernetes"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/command"
	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
	"github.com/paddle-volcano/paddle-volcano/test/live"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox/node"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/image"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/train"
)

var forwarding = regexp.MustCompile(`Forwarding from (127\.0\.0\.1:\d+)`)

// TestExecAndPortForward runs a program in a pod and talks to the pod through a forwarded port, from outside of the box. The
// pod forwards the connection to the API server, by the name that clients in a cluster use.
func TestExecAndPortForward(t *testing.T) {
	t.Parallel()
	live.RequireReal(t)
	live.SkipUnlessAll(t)
	kubectl, err := exec.LookPath("kubectl")
	if err != nil {
		t.Skip("kubectl is not in PATH: `make kubectl` builds _output/bin/kubectl")
	}
	r := newTrial(t, "job")
	r.runEtcd(t, "gateway", "start", "--listen-addr=0.0.0.0:2379", "--endpoints=kubernetes.default.svc:443")
	command := func(args ...string) *exec.Cmd {
		return exec.CommandContext(t.Context(), kubectl, append([]string{"--kubeconfig", cluster.Kubeconfig(), "--namespace", r.namespace}, args...)...)
	}
	output, err := command("exec", etcdPod, "--", image.Binary, "--version").CombinedOutput()
	require.NoError(t, err, string(output))
	require.Contains(t, string(output), "etcd Version: ")

	forward := command("port-forward", "pod/"+etcdPod, ":2379")
	reader, err := forward.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, forward.Start())
	defer func() {
		require.NoError(t, forward.Process.Kill())
		require.Error(t, forward.Wait())
	}()
	line, err := bufio.NewReader(reader).ReadString('\n')
	require.NoError(t, err)
	found := forwarding.FindStringSubmatch(line)
	require.NotNil(t, found, line)
	config := cluster.RESTConfig()
	config.Host, config.ServerName = "https://"+found[1], "kubernetes.default.svc"
	client, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	version, err := client.Discovery().ServerVersion()
	require.NoError(t, err)
	require.Contains(t, version.GitVersion, "v1.34")
}

// TestNodeAgentsRestart kills the kubelet, containerd and CoreDNS, which leaves containers as they are: the job trains on.
func TestNodeAgentsRestart(t *testing.T) {
	live.RequireReal(t)
	live.SkipUnlessAll(t)
	r := newTrial(t, "job")
	r.create(t, r.psJob(intranet(v1.Service), slowly))
	r.await(t, "worker", "step 10 loss", 2)
	starts := func() int {
		log, err := os.ReadFile(cluster.Logs(sandbox.Containerd))
		require.NoError(t, err)
		return strings.Count(string(log), node.RuntimeReady)
	}
	before := starts()
	for _, component := range []string{sandbox.Kubelet, sandbox.Containerd, sandbox.CoreDNS} {
		require.NoError(t, cluster.Kill(component, syscall.SIGKILL))
	}
	require.NoError(t, cluster.StartComponent(sandbox.Containerd))
	cluster.Await(t, "containerd to be ready again", func(context.Context) error {
		if starts() == before {
			return errors.New("it has not said so in its log")
		}
		return nil
	})
	for _, component := range []string{sandbox.Kubelet, sandbox.CoreDNS} {
		require.NoError(t, cluster.StartComponent(component))
	}
	done := r.awaitPhase(t, v1.Completed) // logs that are followed end with the kubelet
	require.Zero(t, done.Status.Restarts)
	require.Equal(t, train.Hash(train.Model([]train.Segment{{World: 2}}, steps)), train.Hash(r.model(t).Params))
	require.NoError(t, promiseGPUs(context.WithoutCancel(t.Context())), "the restart of the kubelet has reset them")
}

// paddle returns what kubectl paddle says about the trial.
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
