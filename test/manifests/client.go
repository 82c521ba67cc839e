// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
)

// Client creates, applies and deletes objects of any kind that the API server knows.
type Client struct {
	objects dynamic.Interface
	kinds   *restmapper.DeferredDiscoveryRESTMapper
}

// NewClient returns a client for the API server of config. API kinds are looked up when first met and again when one is
// not found, so that a CRD may be created with it.
func NewClient(config *rest.Config) (*Client, error) {
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make a client for the manifests: %w", err)
	}
	kinds, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make a client for the API's kinds: %w", err)
	}
	return &Client{objects: objects, kinds: restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(kinds))}, nil
}

// Apply applies the objects server-side, in order. Namespaced objects that name no namespace go to the given one.
func (c *Client) Apply(ctx context.Context, namespace, manager string, objects ...*unstructured.Unstructured) error {
	for _, object := range objects {
		to, err := c.resource(object, namespace)
		if err != nil {
			return err
		}
		if _, err := to.Apply(ctx, object.GetName(), object, metav1.ApplyOptions{FieldManager: manager, Force: true}); err != nil {
			return fmt.Errorf("apply %s: %w", label(object), err)
		}
	}
	return nil
}

// Create creates the objects in order, as kubectl create does, and returns them as the API server stored them.
// Namespaced objects that name no namespace go to the given one.
func (c *Client) Create(ctx context.Context, namespace string, options metav1.CreateOptions, objects ...*unstructured.Unstructured) ([]*unstructured.Unstructured, error) {
	stored := make([]*unstructured.Unstructured, 0, len(objects))
	for _, object := range objects {
		to, err := c.resource(object, namespace)
		if err != nil {
			return stored, err
		}
		made, err := to.Create(ctx, object, options)
		if err != nil {
			return stored, fmt.Errorf("create %s: %w", label(object), err)
		}
		stored = append(stored, made)
	}
	return stored, nil
}

// Delete asks for the objects' deletion in the order in which they stand, as kubectl delete does, and does not wait.
// What is already gone is no error, and neither is an object whose kind went with its CRD.
func (c *Client) Delete(ctx context.Context, namespace string, objects ...*unstructured.Unstructured) error {
	background := metav1.DeletePropagationBackground
	for _, object := range objects {
		from, err := c.resource(object, namespace)
		if meta.IsNoMatchError(err) {
			continue
		}
		if err != nil {
			return err
		}
		err = from.Delete(ctx, object.GetName(), metav1.DeleteOptions{PropagationPolicy: &background})
		if err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("delete %s: %w", label(object), err)
		}
	}
	return nil
}

// Get returns the object as it is stored now.
func (c *Client) Get(ctx context.Context, namespace string, object *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	from, err := c.resource(object, namespace)
	if err != nil {
		return nil, err
	}
	stored, err := from.Get(ctx, object.GetName(), metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("get %s: %w", label(object), err)
	}
	return stored, nil
}

func (c *Client) resource(object *unstructured.Unstructured, namespace string) (dynamic.ResourceInterface, error) {
	kind := object.GroupVersionKind()
	mapping, err := c.kinds.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return nil, fmt.Errorf("find the API of %s (is its CRD installed?): %w", label(object), err)
	}
	all := c.objects.Resource(mapping.Resource)
	if mapping.Scope.Name() != meta.RESTScopeNameNamespace {
		return all, nil
	}
	if own := object.GetNamespace(); own != "" {
		namespace = own
	}
	return all.Namespace(namespace), nil
}

func label(object *unstructured.Unstructured) string {
	return object.GetKind() + " " + object.GetName()
}
