// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Namespace creates a namespace for one test, in which pods are admitted, and returns its name.
func (p *Plane) Namespace(t testing.TB) string {
	t.Helper()
	return p.NamespaceNamed(t, t.Name())
}

// NamespaceNamed is Namespace for a test that needs several: name is made fit and returned.
func (p *Plane) NamespaceNamed(t testing.TB, name string) string {
	t.Helper()
	name = namespaceName(name)
	if err := p.MakeNamespace(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	return name
}

// MakeNamespace creates a namespace and waits for what Kubernetes puts into each: before the service account is there no pod is
// admitted, and a test that looks for writes is not to see the ConfigMap of root certificates come.
func (p *Plane) MakeNamespace(ctx context.Context, name string) error {
	core := p.Kube.CoreV1()
	if _, err := core.Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("make namespace %s: %w", name, err)
	}
	if err := p.Until(ctx, "the default service account of "+name, func(ctx context.Context) error {
		_, err := core.ServiceAccounts(name).Get(ctx, "default", metav1.GetOptions{})
		return err
	}); err != nil {
		return err
	}
	return p.Until(ctx, "the root certificates of "+name, func(ctx context.Context) error {
		_, err := core.ConfigMaps(name).Get(ctx, "kube-root-ca.crt", metav1.GetOptions{})
		return err
	})
}

// longestName is the maximum of a namespace's name, less a reserve for tests that derive other names from it.
const longestName = 60

var unfit = regexp.MustCompile(`[^a-z0-9]+`)

// namespaceName returns the end of a test's name, where names of subtests differ, in the form that Kubernetes wants.
func namespaceName(test string) string {
	name := unfit.ReplaceAllString(strings.ToLower(test), "-")
	return strings.Trim(name[max(0, len(name)-longestName):], "-")
}

// changing are kinds whose objects change or stay by themselves.
var changing = []string{"events", "leases"}

// Kinds returns the kinds of objects that a namespace can have, without events and leases. An API server that has just
// started does not know all of them.
func (p *Plane) Kinds() ([]schema.GroupVersionResource, error) {
	lists, err := p.Kube.Discovery().ServerPreferredNamespacedResources()
	if err != nil {
		return nil, fmt.Errorf("ask for the kinds of objects: %w", err)
	}
	var kinds []schema.GroupVersionResource
	for _, list := range lists {
		group, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return nil, fmt.Errorf("read the kinds of objects: %w", err)
		}
		for i := range list.APIResources {
			resource := &list.APIResources[i]
			if slices.Contains(resource.Verbs, "list") && !slices.Contains(changing, resource.Name) {
				kinds = append(kinds, group.WithResource(resource.Name))
			}
		}
	}
	return kinds, nil
}

// InEveryNamespace reports whether Kubernetes puts such an object into every namespace.
func InEveryNamespace(object *unstructured.Unstructured) bool {
	switch object.GetKind() {
	case "ServiceAccount":
		return object.GetName() == "default"
	case "ConfigMap":
		return object.GetName() == "kube-root-ca.crt"
	}
	return false
}
