// SPDX-License-Identifier: Apache-2.0

package kind_test

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/paddle-volcano/paddle-volcano/test/manifests"
)

const scripts = "../../hack/kind/"

// run calls a script, and returns what it said and its exit code.
func run(t *testing.T, environment []string, script string, args ...string) (string, int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), scripts+script, args...)
	cmd.Env = environment
	said, err := cmd.CombinedOutput()
	if exit := new(exec.ExitError); !errors.As(err, &exit) {
		require.NoError(t, err, "%s", said)
	}
	return string(said), cmd.ProcessState.ExitCode()
}

// The scripts are run as a user would, with the kind that they build; only docker is not real.
func TestUp(t *testing.T) {
	m := newMachine(t)
	said, code := run(t, m.environment("NODES=3"), "up.sh")
	require.Zero(t, code, said)
	require.Contains(t, said, "ready: 3 simulated nodes")
	calls := m.calls(t)
	const measuring = 2 // calls of bench.sh
	t.Run("goes in order", func(t *testing.T) { inOrder(t, calls) })
	t.Run("leaves a kubeconfig", func(t *testing.T) {
		conf, err := os.ReadFile(filepath.Join(m.out(), "kubeconfig"))
		require.NoError(t, err)
		require.Contains(t, string(conf), "https://127.0.0.1:40000")
	})
	t.Run("builds or pins every image", func(t *testing.T) { builtOrPinned(t, calls) })
	t.Run("is understood by kubeadm and Kubernetes", func(t *testing.T) { understood(t, m, calls) })
	t.Run("measures", func(t *testing.T) {
		said, code := run(t, m.environment(), "bench.sh", "--rounds=1") // no cluster answers; package turns is tested where one does
		require.Equal(t, 1, code, said)
		require.Contains(t, said, "error: count the simulated nodes: ")
	})
	t.Run("makes no second cluster", func(t *testing.T) {
		said, code := run(t, m.environment("NODES=3"), "up.sh")
		require.Zero(t, code, said)
		require.Contains(t, said, "is there and is brought up to date")
		again := m.calls(t)[len(calls)+measuring:]
		require.False(t, slices.ContainsFunc(again, func(c call) bool { return c.Args[0] == "run" }))
		want, err := json.Marshal(applied(t, calls...))
		require.NoError(t, err)
		got, err := json.Marshal(applied(t, again...))
		require.NoError(t, err)
		require.JSONEq(t, string(want), string(got))
	})
	t.Run("goes down again", func(t *testing.T) {
		said, code := run(t, m.environment(), "down.sh")
		require.Zero(t, code, said)
		last := m.calls(t)
		require.Equal(t, []string{"rm", "-f", "-v", node}, last[len(last)-1].Args)
		require.NoDirExists(t, m.out())
	})
}

// applied are the objects of those calls that are the scripts' kubectl apply.
func applied(t *testing.T, calls ...call) (objects []*unstructured.Unstructured) {
	t.Helper()
	for _, c := range calls {
		if !slices.Contains(c.Args, "--field-manager=paddle-kind") {
			continue
		}
		require.Subset(t, c.Args, []string{"apply", "--server-side", "--force-conflicts", "--validate=strict"})
		parsed, err := manifests.Parse([]byte(c.Input))
		require.NoError(t, err)
		require.NotEmpty(t, parsed)
		objects = append(objects, parsed...)
	}
	return objects
}

// inOrder checks what must come before what.
func inOrder(t *testing.T, calls []call) {
	t.Helper()
	next := 0
	for _, want := range []string{
		`^info$`,
		`^build .*controller\.Dockerfile`, `^build .*scheduler\.Dockerfile`, `^build .*barrier\.Dockerfile`, `^build .*vc-scheduler\.Dockerfile`,
		`^run .*kindest/node:v1\.34\.\d+@sha256:`,
		`kubeadm init`,
		`chmod a\+r /var/log/audit/audit\.log`,
		`images import`,
		`kubectl .*taint node ` + node + ` node-role\.kubernetes\.io/control-plane=:NoSchedule`,
		`patch daemonset kindnet `, `patch daemonset kube-proxy `,
		`apply: Namespace volcano-system`,
		`wait job/volcano-admission-init`, `rollout status deployment/volcano-admission`, `rollout status deployment/volcano-controllers`,
		`create --dry-run=server`,
		`apply: ConfigMap paddle-kwok`,
		`apply: CustomResourceDefinition paddlejobs`,
		`rollout status deployment/paddle-kwok`, `rollout status deployment/paddle-controller-manager`,
		`scale deployment/volcano-scheduler --replicas=0`, `wait pod --for=delete`,
		`apply: ServiceAccount volcano-scheduler`, `rollout status deployment/volcano-scheduler`,
		`wait queue/default`,
		`apply: Node rack-0-node-0`,
		`get nodes`,
	} {
		at := slices.IndexFunc(calls[next:], func(c call) bool { return regexp.MustCompile(want).MatchString(title(t, c)) })
		require.GreaterOrEqual(t, at, 0, "%s comes at all, and after call %d", want, next)
		next += at + 1
	}
	require.Equal(t, len(calls), next, "nothing comes after that")
}

// title is a call in words; of what is applied it names the first object.
func title(t *testing.T, c call) string {
	t.Helper()
	if objects := applied(t, c); len(objects) > 0 {
		return "apply: " + objects[0].GetKind() + " " + objects[0].GetName()
	}
	return strings.Join(c.Args, " ")
}
