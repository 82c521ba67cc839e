// SPDX-License-Identifier: Apache-2.0

package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"

	"github.com/paddle-volcano/paddle-volcano/test/live"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

// testAsShipped checks that paddle-scheduler and paddlejob-controller run as in their manifests and the options.
func (e *env) testAsShipped(t *testing.T) {
	require.Contains(t, arguments(t, e, sandbox.Scheduler), live.SchedulePeriod)
	require.Contains(t, arguments(t, e, sandbox.Controller), "--workers=3")
	require.Contains(t, arguments(t, e, sandbox.Controller), "--leader-elect=false")
	require.NotContains(t, arguments(t, e, sandbox.Controller), "--leader-elect=true")

	conf, err := os.ReadFile(filepath.Join(e.StateDir(), "volcano-scheduler.conf"))
	require.NoError(t, err)
	require.Contains(t, string(conf), "- name: paddle\n")
	require.Contains(t, string(conf), "- name: gang\n")

	requirePermissions(t, e, "volcano-system", "volcano-scheduler", "../../deploy/v1/scheduler.yaml")
	requirePermissions(t, e, "paddle-system", "paddle-controller-manager", "../../deploy/v1/operator.yaml")

	before := arguments(t, e, sandbox.Controller)
	require.NoError(t, e.RestartController(t.Context()))
	require.Equal(t, before, arguments(t, e, sandbox.Controller))
	for _, name := range []string{sandbox.Scheduler, sandbox.VolcanoController, sandbox.Controller} {
		e.Await(t, "the metrics of "+name, func(context.Context) error {
			response, err := http.Get("http://" + e.Address(name) + "/metrics")
			if err != nil {
				return err
			}
			body, err := io.ReadAll(response.Body)
			if err != nil || !strings.Contains(string(body), "go_goroutines") {
				return fmt.Errorf("%s answered %s (%w)", name, response.Status, err)
			}
			return response.Body.Close()
		})
	}
	require.Empty(t, e.Address(sandbox.Etcd))
}

// requirePermissions checks that the cluster-wide permissions of an account are those of the shipped manifest, and no others: Volcano's
// installer would give its scheduler more.
func requirePermissions(t *testing.T, e *env, namespace, account, path string) {
	t.Helper()
	shipped := map[string][]rbacv1.PolicyRule{}
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close() //nolint:errcheck // only read
	for decoder := utilyaml.NewYAMLOrJSONDecoder(file, 4096); ; {
		var role rbacv1.ClusterRole
		if err := decoder.Decode(&role); errors.Is(err, io.EOF) {
			break
		}
		if role.Kind == "ClusterRole" {
			shipped[role.Name] = role.Rules
		}
	}
	bindings, err := e.Kube.RbacV1().ClusterRoleBindings().List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	bound := 0
	for _, binding := range bindings.Items {
		for _, subject := range binding.Subjects {
			if subject.Kind == rbacv1.ServiceAccountKind && subject.Name == account && subject.Namespace == namespace {
				role, err := e.Kube.RbacV1().ClusterRoles().Get(t.Context(), binding.RoleRef.Name, metav1.GetOptions{})
				require.NoError(t, err)
				require.Equal(t, shipped[role.Name], role.Rules, "permissions of %s by %s", account, role.Name)
				bound++
			}
		}
	}
	require.Positive(t, bound)
}

// arguments returns what a component's process was started with.
func arguments(t *testing.T, e *env, name string) []string {
	t.Helper()
	for _, status := range sandbox.ComponentStatuses(e.StateDir()) {
		if status.Name == name {
			data, err := os.ReadFile(filepath.Join("/proc", status.Process, "cmdline"))
			require.NoError(t, err)
			return strings.Split(strings.TrimSuffix(string(data), "\x00"), "\x00")
		}
	}
	require.Fail(t, "component "+name+" was not started")
	return nil
}
