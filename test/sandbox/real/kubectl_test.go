// SPDX-License-Identifier: Apache-2.0

package real_test

import (
	"bufio"
	"io"
	"net"
	"os/exec"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/paddle-volcano/paddle-volcano/test/live"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/image"
)

var forwarding = regexp.MustCompile(`Forwarding from (127\.0\.0\.1:\d+)`)

// testKubectl runs a program in a pod and talks to one through a forwarded port, from outside of the box. It needs the
// machine's kubectl, because a client of its own would need more modules than all the rest here.
func testKubectl(t *testing.T, p *live.Plane) {
	kubectl, err := exec.LookPath("kubectl")
	if err != nil {
		t.Skip("kubectl is not in PATH: `make kubectl` builds _output/bin/kubectl")
	}
	namespace := p.Namespace(t)
	create(t, p, namespace, onRealNode("server", "serve"))
	await(t, p, namespace, "server", corev1.PodRunning)
	command := func(args ...string) *exec.Cmd {
		return exec.CommandContext(t.Context(), kubectl, append([]string{"--kubeconfig", p.Kubeconfig(), "--namespace", namespace}, args...)...)
	}
	output, err := command("exec", "server", "--", image.Binary, "ask", "localhost").CombinedOutput()
	require.NoError(t, err, string(output))
	require.Contains(t, string(output), "answer: server hears ")

	forward := command("port-forward", "pod/server", ":7000")
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
	conn, err := net.Dial("tcp", found[1])
	require.NoError(t, err)
	answer, err := io.ReadAll(conn)
	require.NoError(t, err)
	require.Contains(t, string(answer), "server hears ")
	require.NoError(t, conn.Close())
}
