// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/paddle-volcano/paddle-volcano/deploy"
	"github.com/paddle-volcano/paddle-volcano/test/manifests"
)

// Settings of a cluster.
type Settings struct {
	// Volcano is the folder of Volcano's module, which holds its installer.
	Volcano string
	// Scheduler is the image of Volcano's own scheduler.
	Scheduler string
	// Kwok is a folder with kwok.yaml, and KwokVersion the version of its image.
	Kwok, KwokVersion string
	// Nodes is how many nodes are simulated.
	Nodes int
}

// File is a manifest.
type File struct {
	Name    string
	Objects []*unstructured.Unstructured
}

// Files of a cluster. Both schedulers have the same name, so that the one that is applied last is the cluster's.
const (
	Volcano         = "volcano.yaml"
	Kwok            = "kwok.yaml"
	Paddle          = "paddle.yaml"
	PaddleScheduler = "scheduler-paddle.yaml"
	StockScheduler  = "scheduler-stock.yaml"
	Nodes           = "nodes.yaml"
)

const installer = "installer/volcano-development.yaml"

// Render returns all manifests.
func Render(s Settings) ([]File, error) {
	if s.Nodes < 1 {
		return nil, errors.New("number of simulated nodes: want 1 or more")
	}
	volcano, err := manifests.Read(os.DirFS(s.Volcano), installer)
	if err != nil {
		return nil, fmt.Errorf("read Volcano's installer: %w", err)
	}
	stock, err := s.stock(volcano)
	if err != nil {
		return nil, err
	}
	kwok, err := s.kwok()
	if err != nil {
		return nil, err
	}
	nodes, err := simulated(s.Nodes)
	if err != nil {
		return nil, err
	}
	paddle, err := manifests.Read(deploy.Files, "v1/crd.yaml", "v1/namespace.yaml", "v1/operator.yaml", "v1/admission.yaml")
	if err != nil {
		return nil, fmt.Errorf("read our manifests: %w", err)
	}
	scheduler, err := manifests.Read(deploy.Files, "v1/scheduler.yaml")
	if err != nil {
		return nil, fmt.Errorf("read our scheduler's manifest: %w", err)
	}
	files := []File{{Volcano, volcano}, {Kwok, kwok}, {Paddle, paddle}, {PaddleScheduler, scheduler}, {StockScheduler, stock}, {Nodes, nodes}}
	for _, file := range files {
		for _, object := range file.Objects {
			if err := onRealNode(object); err != nil {
				return nil, fmt.Errorf("%s: %w", file.Name, err)
			}
		}
	}
	return files, nil
}

// Write renders all manifests into a folder.
func Write(s Settings, folder string) error {
	files, err := Render(s)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil { //nolint:gosec // manifests are for everybody to read
		return fmt.Errorf("make the folder of the manifests: %w", err)
	}
	for _, file := range files {
		data, err := file.yaml()
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, file.Name), data, fs.FileMode(0o644)); err != nil { //nolint:gosec // manifests are for everybody to read
			return fmt.Errorf("write a manifest: %w", err)
		}
	}
	return nil
}

func (f File) yaml() ([]byte, error) {
	var out bytes.Buffer
	for _, object := range f.Objects {
		data, err := yaml.Marshal(object.Object)
		if err != nil {
			return nil, fmt.Errorf("write %s: %s %s: %w", f.Name, object.GetKind(), object.GetName(), err)
		}
		out.WriteString("---\n")
		out.Write(data)
	}
	return out.Bytes(), nil
}
