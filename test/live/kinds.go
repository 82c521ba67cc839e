// SPDX-License-Identifier: Apache-2.0

package live

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

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
