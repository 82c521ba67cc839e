// SPDX-License-Identifier: Apache-2.0

package manifests_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// That nothing is refused shows that the shipped rights are enough only if the sandbox gives no other rights.
func TestSandboxGivesTheShippedRightsAndNoOthers(t *testing.T) {
	for _, file := range []string{"v1/operator.yaml", "v1/scheduler.yaml"} {
		t.Run(file, func(t *testing.T) {
			deployment := deploymentOf(t, file)
			account := rbacv1.Subject{Kind: "ServiceAccount", Name: deployment.Spec.Template.Spec.ServiceAccountName, Namespace: deployment.Namespace}
			shipped := map[string][]rbacv1.PolicyRule{}
			for _, object := range read(t, file) {
				if kind := object.GetKind(); kind == "ClusterRole" || kind == "Role" {
					role := &rbacv1.ClusterRole{}
					require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, role))
					shipped[kind+" "+role.Name] = role.Rules
				}
			}
			require.Equal(t, shipped, rightsOf(t, account))
		})
	}
}

// rightsOf are the rules of every role that is bound to an account by its name.
func rightsOf(t *testing.T, account rbacv1.Subject) map[string][]rbacv1.PolicyRule {
	t.Helper()
	rights := map[string][]rbacv1.PolicyRule{}
	clusterBindings, err := shared.Kube.RbacV1().ClusterRoleBindings().List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	for i := range clusterBindings.Items {
		binding := &clusterBindings.Items[i]
		for _, subject := range binding.Subjects {
			if subject == account {
				role, err := shared.Kube.RbacV1().ClusterRoles().Get(t.Context(), binding.RoleRef.Name, metav1.GetOptions{})
				require.NoError(t, err)
				rights["ClusterRole "+role.Name] = role.Rules
			}
		}
	}
	bindings, err := shared.Kube.RbacV1().RoleBindings(metav1.NamespaceAll).List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	for i := range bindings.Items {
		binding := &bindings.Items[i]
		for _, subject := range binding.Subjects {
			if subject == account {
				role, err := shared.Kube.RbacV1().Roles(binding.Namespace).Get(t.Context(), binding.RoleRef.Name, metav1.GetOptions{})
				require.NoError(t, err)
				rights["Role "+role.Name] = role.Rules
			}
		}
	}
	return rights
}
