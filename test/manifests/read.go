// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// Read returns the objects of the named files in the order in which they are written. Documents that hold only
// comments are left out.
func Read(files fs.FS, names ...string) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	for _, name := range names {
		data, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, fmt.Errorf("read manifest: %w", err)
		}
		found, err := Parse(data)
		if err != nil {
			return nil, fmt.Errorf("manifest %s: %w", name, err)
		}
		objects = append(objects, found...)
	}
	return objects, nil
}

// VolcanosScheduler returns what Volcano's own installer creates for its scheduler: ServiceAccount, ConfigMap, ClusterRole and its
// binding, Service and Deployment.
func VolcanosScheduler(ctx context.Context) ([]*unstructured.Unstructured, error) {
	module, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "volcano.sh/volcano").Output()
	if err != nil {
		return nil, fmt.Errorf("find Volcano's module: %w", err)
	}
	all, err := Read(os.DirFS(strings.TrimSpace(string(module))), "installer/volcano-development.yaml")
	return slices.DeleteFunc(all, func(o *unstructured.Unstructured) bool { return !strings.HasPrefix(o.GetName(), "volcano-scheduler") }), err
}

// Parse returns the objects of a YAML text of one or more documents.
func Parse(data []byte) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	documents := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))
	for number := 1; ; number++ {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, fmt.Errorf("split document %d: %w", number, err)
		}
		content, err := yaml.ToJSON(document)
		if err != nil {
			return nil, fmt.Errorf("read document %d: %w", number, err)
		}
		if string(content) == "null" {
			continue
		}
		object := &unstructured.Unstructured{}
		if err := object.UnmarshalJSON(content); err != nil {
			return nil, fmt.Errorf("read document %d: %w", number, err)
		}
		if object.GetName() == "" {
			return nil, fmt.Errorf("document %d, a %s, has no metadata.name", number, object.GetKind())
		}
		objects = append(objects, object)
	}
}
