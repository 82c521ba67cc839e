// SPDX-License-Identifier: Apache-2.0

package turns

import (
	"context"
	"fmt"
	"io/fs"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/paddle-volcano/paddle-volcano/test/live"
	"github.com/paddle-volcano/paddle-volcano/test/manifests"
)

const (
	namespace  = "volcano-system"
	deployment = "volcano-scheduler"
	// manager is the scripts' own (hack/kind), so that fields that one scheduler has and the other has not come and go.
	manager = "paddle-kind"
)

// Deployments are schedulers that are one Deployment, by their manifests.
type Deployments struct {
	Plane   *live.Plane
	Objects *manifests.Client
	// Manifests has a file scheduler-NAME.yaml of each.
	Manifests fs.FS
}

// Start applies the manifest.
func (d *Deployments) Start(ctx context.Context, name string) error {
	objects, err := manifests.Read(d.Manifests, "scheduler-"+name+".yaml")
	if err != nil {
		return err
	}
	if err := d.Objects.Apply(ctx, namespace, manager, objects...); err != nil {
		return fmt.Errorf("put scheduler %s in place: %w", name, err)
	}
	return nil
}

// Stop scales it to nothing, and waits until its last pod is gone.
func (d *Deployments) Stop(ctx context.Context) error {
	_, err := d.Plane.Kube.AppsV1().Deployments(namespace).Patch(ctx, deployment, types.MergePatchType, []byte(`{"spec":{"replicas":0}}`), metav1.PatchOptions{FieldManager: manager})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("scale the scheduler to nothing: %w", err)
	}
	return d.Plane.Until(ctx, "the scheduler to be gone", func(ctx context.Context) error {
		pods, err := d.Plane.Kube.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{LabelSelector: "app=" + deployment})
		if err == nil && len(pods.Items) > 0 {
			err = fmt.Errorf("pod %s is there", pods.Items[0].Name)
		}
		return err
	})
}
