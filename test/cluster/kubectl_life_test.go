// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/ptr"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/command"
	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/describe"
	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/simulation"
	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
)

// user types in one namespace.
type user struct {
	namespace string
	stdin     string
	as        []string // flags of impersonation
}

// paddle returns what a run of kubectl paddle says.
func (u user) paddle(ctx context.Context, args ...string) (out, errOut string, code int) {
	var stdout, stderr bytes.Buffer
	args = append(append([]string{"--kubeconfig", cluster.Kubeconfig(), "--namespace", u.namespace}, u.as...), args...)
	code = command.RunWith(ctx, simulation.Simulate, args, genericiooptions.IOStreams{In: strings.NewReader(u.stdin), Out: &stdout, ErrOut: &stderr})
	return stdout.String(), stderr.String(), code
}

// manifest returns a job of workers, in YAML; more is added to its spec.
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

// delete deletes jobs, and waits until their pods are deleted.
func (u user) delete(t *testing.T, names ...string) {
	t.Helper()
	jobs := cluster.Paddle.BatchV1().PaddleJobs(u.namespace)
	for _, name := range names {
		require.NoError(t, jobs.Delete(t.Context(), name, metav1.DeleteOptions{PropagationPolicy: ptr.To(metav1.DeletePropagationForeground)}))
	}
	for _, name := range names {
		cluster.Await(t, "job "+name+" to be deleted", func(ctx context.Context) error {
			if _, err := jobs.Get(ctx, name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
				return fmt.Errorf("it is still there: %w", err)
			}
			return nil
		})
	}
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
	require.Regexp(t, `(?m)^resnet +Running +Collective +<none> +2/2 +Training +default +\S+`, u.run(t, "list"))
	require.Regexp(t, `(?m)^  worker +1 +resnet-worker-1 +Running +\S+ +\d+\.`, u.run(t, "describe", "resnet"))
	var job v1.PaddleJob
	require.NoError(t, json.Unmarshal([]byte(u.run(t, "get", "resnet", "-o", "json")), &job))
	require.Equal(t, v1.Running, job.Status.Phase)
	require.Contains(t, u.run(t, "list", "-o", "yaml"), "kind: PaddleJobList")
	require.Contains(t, u.run(t, "__complete", "why", ""), "resnet\tRunning")

	require.Equal(t, "paddlejob.batch.paddlepaddle.org/resnet suspended\n", u.run(t, "suspend", "resnet"))
	u.awaitSaid(t, []string{"resnet has been suspended for"}, "why", "resnet")
	_, errOut, code := u.paddle(t.Context(), "logs", "resnet")
	require.Equal(t, 3, code, errOut)
	u.run(t, "resume", "resnet")
	u.awaitSaid(t, []string{"resnet has been running for"}, "why", "resnet")

	u.delete(t, "resnet")
	_, _, code = u.paddle(t.Context(), "why", "resnet")
	require.Equal(t, 3, code)
}

func TestWhyAJobDoesNotFit(t *testing.T) {
	t.Parallel()
	u := user{namespace: cluster.Namespace(t), stdin: manifest("huge", 1, "nvidia.com/gpu: 9")}
	u.run(t, "submit", "-f", "-")
	// The reason is the one of the plugin's condition.
	u.awaitSaid(t, []string{"huge has been Pending for", "(InsufficientResources)", "What helps:"}, "why", "huge")
	var got describe.Description
	require.NoError(t, json.Unmarshal([]byte(u.run(t, "why", "huge", "-o", "json")), &got))
	require.Equal(t, v1.Pending, got.Phase)
	require.Empty(t, got.Unread)
	// An event may report it before the condition does.
	require.Regexp(t, `Scheduled +False +InsufficientResources +\S+ +\d+ of 1 worker does not fit: `,
		u.awaitSaid(t, []string{"Scheduled   False    InsufficientResources"}, "describe", "huge"), "the reason of the plugin")

	// A user who may only read jobs sees the controller's message, and what is left out.
	reader := user{namespace: u.namespace, as: []string{"--as", "reader"}}
	_, _, code := reader.paddle(t.Context(), "why", "huge")
	require.Equal(t, 1, code)
	letRead(t, u.namespace, "reader", "batch.paddlepaddle.org", "paddlejobs")
	out := reader.awaitSaid(t, []string{"huge has been Pending for"}, "why", "huge")
	_, errOut, _ := reader.paddle(t.Context(), "why", "huge")
	for _, what := range []string{"Volcano Jobs", "PodGroups", "pods", "queues", "events"} {
		require.Contains(t, errOut, "Skipped: "+what+" (you have no permission to read them).")
	}
	require.NotContains(t, out, "Its queue")
	reader.run(t, "list")
	reader.run(t, "describe", "huge")
	_, _, code = reader.paddle(t.Context(), "suspend", "huge")
	require.Equal(t, 1, code)
}

// letRead permits a user to read one kind in a namespace.
func letRead(t *testing.T, namespace, name, group, resource string) {
	t.Helper()
	rbac := cluster.Kube.RbacV1()
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: name + "-" + resource}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{group}, Resources: []string{resource}, Verbs: []string{"get", "list"}},
	}}
	_, err := rbac.Roles(namespace).Create(t.Context(), role, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = rbac.RoleBindings(namespace).Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role.Name}, Subjects: []rbacv1.Subject{{Kind: "User", APIGroup: rbacv1.GroupName, Name: name}},
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
}

func TestAllOrNothing(t *testing.T) {
	t.Parallel()
	namespace := cluster.Namespace(t)
	good := manifest("good", 1, "cpu: 1")
	for name, test := range map[string]struct {
		text string
		code int
		want string
	}{
		"a field that is not known":      {good + manifest("bad", 1, "cpu: 1", "  suspend: true\n"), 4, `unknown field "spec.suspend"`},
		"what the controller refuses":    {good + manifest("bad", 0, "cpu: 1"), 4, "spec.worker.replicas: Invalid value: 0: set it to 1 or more"},
		"what the API server refuses":    {good + manifest("bad", 1, "cpu: 1", "  runPolicy: {restartScope: Sometimes}\n"), 4, "restartScope"},
		"twice the same":                 {good + good, 4, "both called"},
		"another namespace":              {good + "---\napiVersion: batch.paddlepaddle.org/v1\nkind: PaddleJob\nmetadata: {name: x, namespace: other}\n", 2, "--namespace is"},
		"another kind":                   {good + "---\napiVersion: v1\nkind: Service\n", 4, "use kubectl create -f for it"},
		"nothing at all":                 {"", 4, "holds no PaddleJob"},
		"an output that there is not":    {good, 2, "output format"},
		"a dry run, which asks and ends": {good, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := []string{"submit", "-f", "-"}
			switch test.code {
			case 0:
				args = append(args, "--dry-run=server")
			case 2:
				if test.want == "output format" {
					args = append(args, "-o", "zzz")
				}
			}
			out, errOut, code := user{namespace: namespace, stdin: test.text}.paddle(t.Context(), args...)
			require.Equal(t, test.code, code, "%s%s", out, errOut)
			require.Contains(t, errOut, test.want)
			require.Empty(t, user{namespace: namespace}.jobs(t))
		})
	}
}

func TestExitCodes(t *testing.T) {
	t.Parallel()
	u := user{namespace: cluster.Namespace(t), stdin: manifest("there", 1, "cpu: 1", "  runPolicy: {suspend: true}\n")}
	u.run(t, "submit", "-f", "-")
	for _, test := range []struct {
		code int
		args []string
	}{
		{0, []string{"list"}}, {0, []string{"--help"}}, {0, []string{"list", "-l", "a=b"}}, {0, []string{"completion", "bash"}},
		{0, []string{"suspend", "there"}},
		{1, []string{"list", "--server", "https://127.0.0.1:1"}}, {1, []string{"submit", "-f", filepath.Join(t.TempDir(), "none.yaml")}},
		{2, []string{"nonsense"}}, {2, []string{"describe"}}, {2, []string{"list", "--nonsense"}}, {2, []string{"logs", "there", "--role", "king"}},
		{2, []string{"submit"}}, {2, []string{"list", "-l", "a=b=c"}}, {2, []string{"why", "there", "-o", "xml"}},
		{0, []string{"list", "-o", "wide"}}, {2, []string{"suspend", "there", "-o", "wide"}},
		{3, []string{"get", "gone"}}, {3, []string{"describe", "gone"}}, {3, []string{"why", "gone"}}, {3, []string{"logs", "gone"}}, {3, []string{"logs", "there", "--rank", "7"}},
		{3, []string{"suspend", "gone"}}, {3, []string{"resume", "gone"}},
		{4, []string{"submit", "-f", "-"}},
	} {
		out, errOut, code := u.paddle(t.Context(), test.args...)
		require.Equal(t, test.code, code, "%v: %s%s", test.args, out, errOut)
		if code != 0 {
			require.Regexp(t, `(?m)^(error: |Error from server \(|Unable to connect to the server: )`, errOut, test.args)
		}
	}
}

func TestTheReadmeListsTheExitCodes(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../deploy/docs/reference/kubectl-paddle.md")
	require.NoError(t, err)
	help := user{}.run(t, "--help")
	for _, code := range []string{"done", "failed", "wrong usage", "not found", "refused", "would wait"} {
		require.Contains(t, string(text), "| "+code)
		require.Contains(t, help, "  "+code)
	}
}
