// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// manifest is one file of Kubernetes objects.
type manifest struct {
	path    string
	objects []*unstructured.Unstructured
}

// Manifests of this project, relative to the root of the clone.
const (
	crdManifest       = "deploy/v1/crd.yaml"
	namespaceManifest = "deploy/v1/namespace.yaml"
	operatorManifest  = "deploy/v1/operator.yaml"
	schedulerManifest = "deploy/v1/scheduler.yaml"
)

const schedulerConfigMap = "volcano-scheduler-configmap"

// volcanoManifest is Volcano's own installer, in its module.
const volcanoManifest = "installer/volcano-development.yaml"

// manifests are all that a sandbox applies.
type manifests struct {
	crds []*unstructured.Unstructured
	// volcano is Volcano's installer; operator and scheduler are the project's manifests, and nil where they are left out.
	volcano, operator, scheduler *manifest
	// trainer are the webhooks of trainerControllers, where the options ask for them.
	trainer []*manifest
}

// loadManifests reads everything before anything is started, so that a missing file costs no time.
func loadManifests(ctx context.Context, o *Options) (*manifests, error) {
	volcanoDir, err := moduleDir(ctx, o.root, "volcano.sh/volcano")
	if err != nil {
		return nil, fmt.Errorf("find Volcano's module: %w", err)
	}
	m := &manifests{}
	if m.volcano, err = readManifest(filepath.Join(volcanoDir, volcanoManifest)); err != nil {
		return nil, err
	}
	files, err := crdFiles(volcanoDir, "config/crd/volcano/bases/*.yaml", "config/crd/jobflow/bases/*.yaml")
	if err != nil {
		return nil, err
	}
	if o.Trainer {
		found, err := m.loadTrainer(ctx, o.root)
		if err != nil {
			return nil, err
		}
		files = append(files, found...)
	}
	for _, file := range append(files, filepath.Join(o.root, crdManifest)) {
		crd, err := readManifest(file)
		if err != nil {
			return nil, err
		}
		m.crds = append(m.crds, crd.objects...)
	}
	if !o.WithoutController {
		if m.operator, err = readManifest(filepath.Join(o.root, operatorManifest)); err != nil {
			return nil, err
		}
		namespace, err := readManifest(filepath.Join(o.root, namespaceManifest))
		if err != nil {
			return nil, err
		}
		m.operator.objects = slices.Concat(namespace.objects, m.operator.objects)
	}
	if !o.StockScheduler {
		if m.scheduler, err = readManifest(filepath.Join(o.root, schedulerManifest)); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func crdFiles(module string, patterns ...string) ([]string, error) {
	var files []string
	for _, pattern := range patterns {
		found, err := filepath.Glob(filepath.Join(module, pattern))
		if err != nil {
			return nil, fmt.Errorf("list CRDs: %w", err)
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("no CRDs are in %s: were they moved?", filepath.Join(module, pattern))
		}
		files = append(files, found...)
	}
	return files, nil
}

func readManifest(path string) (*manifest, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("manifest %s is missing: the sandbox runs its component with exactly the arguments and permissions written there, so run it in a whole clone, or leave that component out", path)
	}
	if err != nil {
		return nil, fmt.Errorf("read manifest: %w", err)
	}
	m := &manifest{path: path}
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return m, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read manifest %s: %w", path, err)
		}
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(document, &object.Object); err != nil {
			return nil, fmt.Errorf("read manifest %s: %w", path, err)
		}
		if len(object.Object) > 0 {
			m.objects = append(m.objects, object)
		}
	}
}

// prerequisites returns the objects that a component needs, without what runs it: namespaces, accounts, roles, configuration.
func (m *manifest) prerequisites() []*unstructured.Unstructured {
	var out []*unstructured.Unstructured
	for _, object := range m.objects {
		switch object.GetKind() {
		case "Deployment", "Job", "CustomResourceDefinition":
		default:
			out = append(out, object)
		}
	}
	return out
}

// withoutBindings leaves out the role bindings of one service account, so that it has only the permissions of the other manifests.
func withoutBindings(objects []*unstructured.Unstructured, namespace, account string) []*unstructured.Unstructured {
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

// deployment finds a Deployment by name, or the only one when the name is empty.
func (m *manifest) deployment(name string) (*appsv1.Deployment, error) {
	var found []*appsv1.Deployment
	for _, object := range m.objects {
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

// configMapValue returns one entry of a ConfigMap of the manifest.
func (m *manifest) configMapValue(name, key string) (string, error) {
	for _, object := range m.objects {
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
