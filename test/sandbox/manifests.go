// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/paddle-volcano/paddle-volcano/test/sandbox/launch"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox/programs"
)

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
	volcano, operator, scheduler *launch.Manifest
	// trainer are the webhooks of trainerControllers, where the options ask for them.
	trainer []*launch.Manifest
}

// loadManifests reads everything before anything is started, so that a missing file costs no time.
func loadManifests(ctx context.Context, o *Options) (*manifests, error) {
	_, volcanoDir, err := programs.Module(ctx, programs.Sources, "volcano.sh/volcano")
	if err != nil {
		return nil, err
	}
	m := &manifests{}
	if m.volcano, err = launch.Read(filepath.Join(volcanoDir, volcanoManifest)); err != nil {
		return nil, err
	}
	files, err := crdFiles(volcanoDir, "config/crd/volcano/bases/*.yaml", "config/crd/jobflow/bases/*.yaml")
	if err != nil {
		return nil, err
	}
	if o.Trainer {
		found, err := m.loadTrainer(ctx)
		if err != nil {
			return nil, err
		}
		files = append(files, found...)
	}
	for _, file := range append(files, filepath.Join(o.root, crdManifest)) {
		crd, err := launch.Read(file)
		if err != nil {
			return nil, err
		}
		m.crds = append(m.crds, crd.Objects...)
	}
	if !o.WithoutController {
		if m.operator, err = launch.Read(filepath.Join(o.root, operatorManifest)); err != nil {
			return nil, err
		}
		namespace, err := launch.Read(filepath.Join(o.root, namespaceManifest))
		if err != nil {
			return nil, err
		}
		m.operator.Objects = slices.Concat(namespace.Objects, m.operator.Objects)
	}
	if !o.StockScheduler {
		if m.scheduler, err = launch.Read(filepath.Join(o.root, schedulerManifest)); err != nil {
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
