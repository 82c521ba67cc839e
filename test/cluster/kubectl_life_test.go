// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/story"
	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
)

// manifest is a job of workers, in YAML; more is added to its spec.
func manifest(name string, workers int, resources string, more ...string) string {
	return fmt.Sprintf(`---
apiVersion: batch.paddlepaddle.org/v1
kind: PaddleJob
metadata: {name: %s}
spec:
  worker:
    replicas: %d
    template: {spec: {containers: [{name: paddle, image: paddle, resources: {limits: {%s}}}]}}
%s`, name, workers, resources, strings.Join(more, ""))
}

// awaitSaid runs a command until its output holds all of the words.
func (u user) awaitSaid(t *testing.T, words []string, args ...string) (out string) {
	t.Helper()
	cluster.Await(t, strings.Join(args, " ")+" to say "+strings.Join(words, ", "), func(ctx context.Context) error {
		var errOut string
		var code int
		if out, errOut, code = u.paddle(ctx, args...); code != 0 {
			return errors.New(errOut)
		}
		for _, word := range words {
			if !strings.Contains(out, word) {
				return fmt.Errorf("it says %s", out)
			}
		}
		return nil
	})
	return out
}

func (u user) run(t *testing.T, args ...string) string {
	t.Helper()
	out, errOut, code := u.paddle(t.Context(), args...)
	require.Zero(t, code, "%s%s", out, errOut)
	return out
}

func (u user) jobs(t *testing.T) []v1.PaddleJob {
	t.Helper()
	list, err := cluster.Paddle.BatchV1().PaddleJobs(u.namespace).List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	return list.Items
}

func TestLifeOfAJob(t *testing.T) {
	t.Parallel()
	u := user{namespace: cluster.Namespace(t), stdin: manifest("resnet", 2, "cpu: 1")}
	require.Equal(t, "paddlejob.batch.paddlepaddle.org/resnet submitted (server dry run)\n", u.run(t, "submit", "-f", "-", "--dry-run"))
	require.Empty(t, u.jobs(t))
	require.Equal(t, "paddlejob.batch.paddlepaddle.org/resnet submitted\n", u.run(t, "submit", "-f", "-"))

	u.awaitSaid(t, []string{"resnet has been running for", "2 workers are on"}, "why", "resnet")
	require.Regexp(t, `(?m)^resnet +Running +Collective +2/2 +default +\S+`, u.run(t, "list"))
	require.Regexp(t, `(?m)^worker +1 +resnet-worker-1 +Running +\S+ +\d+\.`, u.run(t, "get", "resnet"))
	var job v1.PaddleJob
	require.NoError(t, json.Unmarshal([]byte(u.run(t, "get", "resnet", "-o", "json")), &job))
	require.Equal(t, v1.Running, job.Status.Phase)
	require.Contains(t, u.run(t, "list", "-o", "yaml"), "kind: PaddleJobList")
	require.Contains(t, u.run(t, "__complete", "why", ""), "resnet\tRunning")

	_, errOut, code := u.paddle(t.Context(), "scale", "resnet", "--workers", "3")
	require.Equal(t, 4, code)
	require.Contains(t, errOut, "only an elastic job can be scaled then")

	require.Equal(t, "paddlejob.batch.paddlepaddle.org/resnet suspended\n", u.run(t, "suspend", "resnet"))
	u.awaitSaid(t, []string{"resnet has been suspended for"}, "why", "resnet")
	_, errOut, code = u.paddle(t.Context(), "logs", "resnet")
	require.Equal(t, 3, code, errOut)
	u.run(t, "resume", "resnet")
	u.awaitSaid(t, []string{"resnet has been running for"}, "why", "resnet")

	require.Equal(t, "paddlejob.batch.paddlepaddle.org/resnet deleted\n", u.run(t, "delete", "resnet"))
	require.Empty(t, u.jobs(t))
	pods, err := cluster.Kube.CoreV1().Pods(u.namespace).List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	require.Empty(t, pods.Items, "delete waits for the pods too")
	_, _, code = u.paddle(t.Context(), "why", "resnet")
	require.Equal(t, 3, code)
}

func TestWhyAJobHasNoRoom(t *testing.T) {
	t.Parallel()
	u := user{namespace: cluster.Namespace(t), stdin: manifest("huge", 1, "nvidia.com/gpu: 9")}
	u.run(t, "submit", "-f", "-")
	// The reason is the plugin's own word, from its condition.
	u.awaitSaid(t, []string{"huge waits", "(InsufficientResources)", "What helps:"}, "why", "huge")
	var told story.Story
	require.NoError(t, json.Unmarshal([]byte(u.run(t, "why", "huge", "-o", "json")), &told))
	require.Equal(t, v1.Pending, told.Phase)
	require.Empty(t, told.Unread)
	require.Regexp(t, `Its pods have no nodes \(\w+\): \d+ of 1 worker has no room: `, u.awaitSaid(t, []string{"Its pods have no nodes ("}, "get", "huge"), "the reason of the plugin")

	// Who may read jobs alone is told the controller's words, and what is left out.
	reader := user{namespace: u.namespace, as: []string{"--as", "reader"}}
	_, _, code := reader.paddle(t.Context(), "why", "huge")
	require.Equal(t, 1, code)
	letRead(t, u.namespace, "reader", "batch.paddlepaddle.org", "paddlejobs")
	out := reader.awaitSaid(t, []string{"huge waits"}, "why", "huge")
	_, errOut, _ := reader.paddle(t.Context(), "why", "huge")
	for _, what := range []string{"Volcano Jobs", "PodGroups", "pods", "queues", "events"} {
		require.Contains(t, errOut, "Left out: "+what+" (you have no right to read them).")
	}
	require.NotContains(t, out, "Its queue")
	reader.run(t, "list")
	reader.run(t, "get", "huge")
	_, _, code = reader.paddle(t.Context(), "suspend", "huge")
	require.Equal(t, 1, code)
}
