// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// letRead gives a user the right to read one kind in a namespace.
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
		"a field that is not known":      {good + manifest("bad", 1, "cpu: 1", "  suspend: true\n"), 4, "did you mean spec.runPolicy.suspend?"},
		"what the controller refuses":    {good + manifest("bad", 0, "cpu: 1"), 4, "spec.worker.replicas is 0: set it to 1 or more (InvalidReplicas)"},
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
		{0, []string{"scale", "there", "--workers", "2"}}, {0, []string{"suspend", "there"}},
		{1, []string{"list", "--server", "https://127.0.0.1:1"}}, {1, []string{"submit", "-f", filepath.Join(t.TempDir(), "none.yaml")}},
		{2, []string{"nonsense"}}, {2, []string{"get"}}, {2, []string{"list", "--nonsense"}}, {2, []string{"logs", "there", "--role", "king"}},
		{2, []string{"scale", "there"}}, {2, []string{"submit"}}, {2, []string{"list", "-l", "a=b=c"}}, {2, []string{"why", "there", "-o", "xml"}},
		{0, []string{"list", "-o", "wide"}}, {2, []string{"suspend", "there", "-o", "wide"}},
		{3, []string{"get", "gone"}}, {3, []string{"why", "gone"}}, {3, []string{"logs", "gone"}}, {3, []string{"logs", "there", "--rank", "7"}},
		{3, []string{"scale", "gone", "--workers", "2"}}, {3, []string{"suspend", "gone"}}, {3, []string{"resume", "gone"}}, {3, []string{"delete", "gone"}},
		{4, []string{"submit", "-f", "-"}}, {4, []string{"scale", "there", "--workers", "0"}},
	} {
		out, errOut, code := u.paddle(t.Context(), test.args...)
		require.Equal(t, test.code, code, "%v: %s%s", test.args, out, errOut)
		if code != 0 {
			require.Contains(t, errOut, "error: ")
		}
	}
}

func TestTheReadmeListsTheExitCodes(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../cmd/kubectl-paddle/README.md")
	require.NoError(t, err)
	help := user{}.run(t, "--help")
	for _, code := range []string{"done", "failed", "wrong usage", "not found", "refused", "would wait"} {
		require.Contains(t, string(text), "| "+code)
		require.Contains(t, help, "  "+code)
	}
}
