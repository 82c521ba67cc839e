// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/command"
)

func TestTopOnce(t *testing.T) {
	t.Parallel()
	u := user{namespace: cluster.Namespace(t), stdin: manifest("huge", 1, "nvidia.com/gpu: 9") + manifest("small", 2, "cpu: 1")}
	u.run(t, "submit", "-f", "-")
	u.awaitSaid(t, []string{"small has been running for"}, "why", "small")
	// The output is no terminal: the table is printed once.
	text := u.awaitSaid(t, []string{"has no room: "}, "top")
	require.Regexp(t, `(?m)^NAME +PHASE +FOR +READY +RESTARTS +QUEUE +AHEAD IN QUEUE +WHY$`, text)
	require.Regexp(t, `(?m)^huge +Pending +\S+ +worker 0/1 +0 +default +\d+ +\S.* has no room: .*…$`, text)
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

func TestTopSaysWhoIsAhead(t *testing.T) {
	t.Parallel()
	u := user{namespace: cluster.Namespace(t)}
	queue := &vcscheduling.Queue{ObjectMeta: metav1.ObjectMeta{Name: u.namespace}, Spec: vcscheduling.QueueSpec{Weight: 1}}
	_, err := cluster.Volcano.SchedulingV1beta1().Queues().Create(t.Context(), queue, metav1.CreateOptions{})
	require.NoError(t, err)
	class := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: u.namespace}, Value: 7}
	_, err = cluster.Kube.SchedulingV1().PriorityClasses().Create(t.Context(), class, metav1.CreateOptions{})
	require.NoError(t, err)
	say := func(u user, row string) {
		t.Helper()
		cluster.Await(t, "top to say "+row, func(ctx context.Context) error {
			out, errOut, _ := u.paddle(ctx, "top", "--once")
			if !regexp.MustCompile("(?m)^" + row).MatchString(out) {
				return fmt.Errorf("it says %s%s", out, errOut)
			}
			return nil
		})
	}
	submit := func(name, policy string) {
		// More than the cluster has: it is not let in, and takes no room in the queue that other tests want.
		u.stdin = manifest(name, 1, "nvidia.com/gpu: 900", "  schedulingPolicy: {queue: "+u.namespace+policy+"}\n")
		u.run(t, "submit", "-f", "-")
	}
	row := func(name, ahead string) string {
		return name + " +Pending +\\S+ +worker 0/1 +0 +" + u.namespace + " +" + ahead + " "
	}
	submit("first", "") // also by name, which decides within a second
	say(u, row("first", "0"))
	submit("second", "")
	say(u, row("second", "1"))
	submit("urgent", ", priorityClass: "+u.namespace)
	say(u, row("urgent", "0"))
	say(u, row("first", "1"))
	say(u, row("second", "2"))

	mate := user{namespace: u.namespace, as: []string{"--as", "colleague"}}
	letRead(t, u.namespace, "colleague", "batch.paddlepaddle.org", "paddlejobs")
	letRead(t, u.namespace, "colleague", "scheduling.volcano.sh", "podgroups")
	say(mate, row("second", `1\+`)) // by age alone
	_, errOut, _ := mate.paddle(t.Context(), "top", "--once")
	require.Contains(t, errOut, "Left out: PodGroups of other namespaces (you have no right to read them).")
	require.Contains(t, errOut, "Left out: PriorityClasses, so that jobs ahead are told by age alone (you have no right to read them).")
	var told struct {
		Ahead string `json:"aheadInQueue"`
	}
	lines := strings.Split(u.run(t, "top", "--once", "-o", "json"), "\n")
	require.NoError(t, json.Unmarshal([]byte(lines[0]), &told))
	require.NotEmpty(t, told.Ahead)
	u.run(t, "delete", "first", "second", "urgent")
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
