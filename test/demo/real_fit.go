// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// fitting makes manifests fit for the real node, which can pull no image and is to leave the machine's folders alone.
type fitting struct {
	// volumes is the folder in which the folders of hostPath volumes are made.
	volumes string
	// images are those that the manifests name, folders those that must be made, and told says what was changed; each
	// in order, and once.
	images, folders, told []string
}

// fit changes the objects.
func (f *fitting) fit(objects []*unstructured.Unstructured) {
	for _, object := range objects {
		f.walk(object.Object)
	}
	for _, list := range []*[]string{&f.images, &f.folders, &f.told} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
}

func (f *fitting) walk(value any) {
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			f.walk(item)
		}
	case map[string]any:
		if image, ok := value["image"].(string); ok {
			f.container(value, image)
		}
		if host, ok := value["hostPath"].(map[string]any); ok {
			f.hostPath(host)
		}
		for _, item := range value {
			f.walk(item)
		}
	}
}

func (f *fitting) container(container map[string]any, image string) {
	f.images = append(f.images, image)
	policy, given := container["imagePullPolicy"].(string)
	name := path.Base(image) // a registry may have a port
	floats := !strings.ContainsAny(name, ":@") || strings.HasSuffix(name, ":latest")
	switch {
	case given && policy == "Always":
		f.told = append(f.told, "imagePullPolicy: Always is taken off "+image)
	case !given && floats: // it would be Always
	default:
		return
	}
	container["imagePullPolicy"] = "IfNotPresent"
}

func (f *fitting) hostPath(volume map[string]any) {
	published, ok := volume["path"].(string)
	if !ok {
		return
	}
	folder := filepath.Join(f.volumes, published)
	volume["path"] = folder
	f.folders = append(f.folders, folder)
	f.told = append(f.told, "hostPath "+published+" is "+folder)
}
