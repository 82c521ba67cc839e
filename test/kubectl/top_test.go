// SPDX-License-Identifier: Apache-2.0

package kubectl_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/command"
)

func TestTopOnce(t *testing.T) {
	t.Parallel()
	u := user{namespace: cluster.Namespace(t), stdin: manifest("huge", 1, "nvidia.com/gpu: 9") + manifest("small", 2, "cpu: 1")}
	u.run(t, "submit", "-f", "-")
	u.awaitSaid(t, []string{"small has been running for"}, "why", "small")
	// The output is no terminal: the table is printed once.
	text := u.awaitSaid(t, []string{"has no room: "}, "top")
	require.Regexp(t, `(?m)^NAME +PHASE +FOR +READY +RESTARTS +QUEUE +WHY$`, text)
	require.Regexp(t, `(?m)^huge +Pending +\S+ +worker 0/1 +0 +default +\S.* has no room: .*…$`, text)
	require.Regexp(t, `(?m)^small +Running +\S+ +worker 2/2 +0 +default$`, text)
	require.Regexp(t, `(?m)^`+u.namespace+` +small +Running`, u.run(t, "top", "-A", "--once"))
	require.NotContains(t, u.run(t, "top", "-l", "no=such"), "small")

	lines := strings.Split(strings.TrimSpace(u.run(t, "top", "--once", "-o", "json")), "\n")
	require.Len(t, lines, 2, "a line for each job")
	require.Equal(t, 2, strings.Count(u.run(t, "top", "--once", "-o", "yaml"), "---\n"))
	for code, args := range map[int][]string{2: {"top", "-o", "xml"}, 1: {"top", "--as", "nobody"}} {
		_, errOut, got := u.paddle(t.Context(), args...)
		require.Equal(t, code, got, errOut)
	}
}

// change is a line of top -o json.
type change struct {
	Change string            `json:"change"`
	Name   string            `json:"name"`
	Phase  string            `json:"phase"`
	Ready  map[string]string `json:"ready"`
}

func TestTopTellsEachChange(t *testing.T) {
	t.Parallel()
	u := user{namespace: cluster.Namespace(t), stdin: manifest("resnet", 2, "cpu: 1")}
	ctx, stop := context.WithCancelCause(t.Context())
	defer stop(nil)
	from, to := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		args := []string{"--kubeconfig", cluster.Kubeconfig(), "--namespace", u.namespace, "top", "-o", "json"}
		ended <- command.Run(ctx, args, genericiooptions.IOStreams{In: strings.NewReader(""), Out: to, ErrOut: to})
		_ = to.Close()
	}()
	u.run(t, "submit", "-f", "-")
	lines := bufio.NewScanner(from)
	var phases []string
	next := func() (c change) {
		require.True(t, lines.Scan(), "%v", phases)
		require.NoError(t, json.Unmarshal(lines.Bytes(), &c), lines.Text())
		require.Equal(t, "resnet", c.Name)
		phases = append(phases, c.Phase)
		return c
	}
	first := next()
	require.Equal(t, "added", first.Change)
	for c := first; c.Phase != "Running"; c = next() {
		require.NotEqual(t, "Failed", c.Phase)
	}
	go u.paddle(ctx, "delete", "resnet")
	for c := next(); c.Change != "deleted"; c = next() {
		require.Equal(t, "changed", c.Change)
	}
	stop(errors.New("interrupt signal received")) // as Ctrl-C does
	require.Zero(t, <-ended)
	require.False(t, lines.Scan(), "nothing more, and no error: %s", lines.Text())
}
