// SPDX-License-Identifier: Apache-2.0

package command

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/plan"
	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
)

func TestGet(t *testing.T) {
	s := newShell(t)
	for _, test := range []struct {
		args        []string
		code        int
		out, errOut string
	}{
		{[]string{"get", "-o", "jsonpath={.items[*].metadata.name}"}, 0, "broken huge resnet", ""},
		{[]string{"get", "huge", "-o", "jsonpath={.spec.worker.replicas}"}, 0, "9", ""},
		{[]string{"get", "-l", "a=b"}, 0, "", "No resources found in team namespace."},
		{[]string{"get", "-A", "-l", "a=b"}, 0, "", "No resources found"},
		{[]string{"get", "-w", "--no-headers", "-o", "name"}, 0, "paddlejob.batch.paddlepaddle.org/huge", ""},
		{[]string{"get", "-o", "yaml"}, 0, "kind: PaddleJobList", ""},
		{[]string{"get", "-w", "-o", "yaml"}, 0, "---\napiVersion: batch.paddlepaddle.org/v1\nkind: PaddleJob\n", ""},
		{[]string{"get", "gone", "huge", "lost"}, 3, "InsufficientResources", "Error from server (NotFound): paddlejobs.batch.paddlepaddle.org \"gone\" not found\nError from server (NotFound): paddlejobs.batch.paddlepaddle.org \"lost\" not found\n"},
		{[]string{"get", "huge", "-A"}, 2, "", "a resource cannot be retrieved by name across all namespaces"},
		{[]string{"get", "huge", "-l", "a=b"}, 2, "", "name cannot be provided when a selector is specified"},
		{[]string{"get", "huge", "resnet", "-w"}, 2, "", "you may only specify a single resource to watch"},
		{[]string{"get", "huge", "-w", "--no-headers"}, 0, "huge   Pending   Collective   <none>   0/9   InsufficientResources   default   60m\nhuge ", ""},
		{[]string{"get", "-l", "a=b=c"}, 2, "", "--selector"},
		{[]string{"get", "--sort-by", ".a["}, 2, "", "--sort-by"},
		{[]string{"get", "-o", "jsonpath={"}, 2, "", "--output"},
		{[]string{"suspend", "huge", "-o", "wide"}, 2, "", "unable to match a printer suitable for the output format"},
	} {
		out, errOut, code := s.run(t, test.args...)
		require.Equal(t, test.code, code, "%v: %s", test.args, errOut)
		require.Contains(t, out, test.out)
		require.Contains(t, errOut, test.errOut)
	}
	s.server.Forbidden = []string{"paddlejobs"}
	_, errOut, code := s.run(t, "get")
	require.Equal(t, 1, code)
	require.Contains(t, errOut, `Error from server (Forbidden): User "u" cannot list resource "paddlejobs"`)
	s.server.Close()
	_, errOut, code = s.run(t, "get")
	require.Equal(t, 1, code)
	require.Contains(t, errOut, "Unable to connect to the server: dial tcp ")
}

// rows calls then when this many lines have been written.
type rows struct {
	left int
	then func()
}

func (r *rows) Write(text []byte) (int, error) {
	if r.left -= bytes.Count(text, []byte("\n")); r.left <= 0 {
		r.then()
	}
	return len(text), nil
}

// A user who ends a watch gets no error.
func TestGetWatchUntilInterrupted(t *testing.T) {
	s := newShell(t)
	s.server.HoldWatches = true
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	const listed, changed = 1 + 3, 3
	errOut, code := s.runWith(t, ctx, &rows{listed + changed, interrupt}, "get", "-w")
	require.Equal(t, plan.Interrupted, code)
	require.Empty(t, errOut)
}

// A command that had more to say when it was interrupted, as submit has of what it created, still says so.
func TestInterruptedCommandPrintsItsError(t *testing.T) {
	s := newShell(t)
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	errOut, code := s.runWith(t, ctx, io.Discard, "get")
	require.Equal(t, plan.Failed, code)
	require.Contains(t, errOut, "context canceled")
}

// Nothing is printed of an error of this program without a message, which has been explained. Those of others are printed.
func TestErrorWithoutAMessage(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]string{
		plan.Errorf(plan.Waits, ""):                       "",
		apierrors.FromObject(&metav1.Status{Code: 500}):   "error: \n",
		errors.Join(plan.Errorf(plan.Waits, "a"), io.EOF): "error: a\nerror: EOF\n",
	} {
		var out bytes.Buffer
		(&session{IOStreams: genericiooptions.IOStreams{ErrOut: &out}}).printError(err)
		require.Equal(t, want, out.String())
	}
}

func TestSortJobs(t *testing.T) {
	t.Parallel()
	jobs := []v1.PaddleJob{*newJob("b", 10, v1.Running), *newJob("c", 9, v1.Pending), *newJob("a", 10, v1.Failed)}
	names := func(by string) (names []string) {
		require.NoError(t, sortJobs(jobs, by))
		for i := range jobs {
			names = append(names, jobs[i].Name)
		}
		return names
	}
	require.Equal(t, []string{"b", "c", "a"}, names(""))
	require.Equal(t, []string{"c", "b", "a"}, names("{.spec.worker.replicas}"), "numbers, and equal ones as they were")
	require.Equal(t, []string{"a", "c", "b"}, names(".status.phase"))
	require.Equal(t, []string{"a", "c", "b"}, names(".status.nothing"))
}

func TestPositionInQueue(t *testing.T) {
	t.Parallel()
	waits, placed := newJob("waits", 1, v1.Pending), newJob("placed", 1, v1.Pending, condition(v1.ConditionScheduled, "True", "GangPlaced", ""))
	rows := jobTable([]v1.PaddleJob{*waits, *placed}, map[string]string{"team/waits": "2", "team/placed": "3"}).Rows
	require.Equal(t, "2", rows[0].Cells[9])
	require.Equal(t, "<none>", rows[1].Cells[9], "the phase of its PodGroup is late")
}
