// SPDX-License-Identifier: Apache-2.0

// Package launch reads from manifests how to run, as child processes of a sandbox, what Deployments run in pods.
//
// From the Deployment come the arguments, the variables and the service account of the process; the other objects of the manifest
// are what it needs in the cluster. Who starts the process is not decided here.
package launch

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/paddle-volcano/paddle-volcano/test/manifests"
)

// Manifest is one file of Kubernetes objects.
type Manifest struct {
	Objects []*unstructured.Unstructured

	path string
}

// Read reads a manifest.
func Read(path string) (*Manifest, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("manifest %s is missing: the sandbox runs its component with exactly the arguments and permissions written there, so run it in a whole clone, or leave that component out", path)
	}
	if err != nil {
		return nil, fmt.Errorf("read manifest: %w", err)
	}
	objects, err := manifests.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("read manifest %s: %w", path, err)
	}
	return &Manifest{Objects: objects, path: path}, nil
}

// Prerequisites returns the objects that a component needs, without what runs it: namespaces, accounts, roles, configuration.
func (m *Manifest) Prerequisites() []*unstructured.Unstructured {
	var out []*unstructured.Unstructured
	for _, object := range m.Objects {
		switch object.GetKind() {
		case "Deployment", "Job", "CustomResourceDefinition":
		default:
			out = append(out, object)
		}
	}
	return out
}

// WithoutBindings leaves out the role bindings of one service account, so that it has only the permissions of the other manifests.
func WithoutBindings(objects []*unstructured.Unstructured, namespace, account string) []*unstructured.Unstructured {
	return slices.DeleteFunc(objects, func(object *unstructured.Unstructured) bool {
		if kind := object.GetKind(); kind != "ClusterRoleBinding" && kind != "RoleBinding" {
			return false
		}
		subjects, _, _ := unstructured.NestedSlice(object.Object, "subjects")
		return slices.ContainsFunc(subjects, func(item any) bool {
			subject, _ := item.(map[string]any)
			return subject["kind"] == "ServiceAccount" && subject["name"] == account && subject["namespace"] == namespace
		})
	})
}

// Deployment finds a Deployment by name, or the only one when the name is empty.
func (m *Manifest) Deployment(name string) (*appsv1.Deployment, error) {
	var found []*appsv1.Deployment
	for _, object := range m.Objects {
		if object.GetKind() != "Deployment" || (name != "" && object.GetName() != name) {
			continue
		}
		d := &appsv1.Deployment{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, d); err != nil {
			return nil, fmt.Errorf("read Deployment %s of %s: %w", object.GetName(), m.path, err)
		}
		found = append(found, d)
	}
	if len(found) != 1 || len(found[0].Spec.Template.Spec.Containers) == 0 {
		return nil, fmt.Errorf("manifest %s has %d Deployments %s with a container, not one: the sandbox cannot tell how to run its component", m.path, len(found), name)
	}
	return found[0], nil
}

// ConfigMapValue returns one entry of a ConfigMap of the manifest.
func (m *Manifest) ConfigMapValue(name, key string) (string, error) {
	for _, object := range m.Objects {
		if object.GetKind() != "ConfigMap" || object.GetName() != name {
			continue
		}
		config := &corev1.ConfigMap{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, config); err != nil {
			return "", fmt.Errorf("read ConfigMap %s of %s: %w", name, m.path, err)
		}
		if value := config.Data[key]; value != "" {
			return value, nil
		}
	}
	return "", fmt.Errorf("manifest %s has no ConfigMap %s with an entry %s", m.path, name, key)
}

// RedirectWebhooks makes webhook configurations call a server on this machine instead of a Service. They keep their names: Volcano's
// webhook-manager looks for them by name, and gives up after five minutes.
func RedirectWebhooks(objects []*unstructured.Unstructured, server string, ca []byte) error {
	for _, object := range objects {
		switch object.GetKind() {
		case "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration":
		default:
			continue
		}
		hooks, _, err := unstructured.NestedSlice(object.Object, "webhooks")
		if err != nil {
			return fmt.Errorf("read %s %s: %w", object.GetKind(), object.GetName(), err)
		}
		for _, item := range hooks {
			hook, ok := item.(map[string]any)
			if !ok {
				return fmt.Errorf("read %s %s: a webhook is no object", object.GetKind(), object.GetName())
			}
			path, _, err := unstructured.NestedString(hook, "clientConfig", "service", "path")
			if err != nil || path == "" {
				return fmt.Errorf("read %s %s: a webhook has no path", object.GetKind(), object.GetName())
			}
			hook["clientConfig"] = map[string]any{"url": server + path, "caBundle": base64.StdEncoding.EncodeToString(ca)}
		}
		if err := unstructured.SetNestedSlice(object.Object, hooks, "webhooks"); err != nil {
			return fmt.Errorf("change %s %s: %w", object.GetKind(), object.GetName(), err)
		}
	}
	return nil
}
