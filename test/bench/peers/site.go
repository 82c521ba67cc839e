// SPDX-License-Identifier: Apache-2.0

package peers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/paddle-volcano/paddle-volcano/test/bench/live"
	"github.com/paddle-volcano/paddle-volcano/test/bench/live/load"
	"github.com/paddle-volcano/paddle-volcano/test/bench/live/times"
	"github.com/paddle-volcano/paddle-volcano/test/manifests"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

// before is the namespace of a pod that is placed before the load is submitted.
const before = "before"

// site is the control plane of one turn.
type site struct {
	*live.Site
	objects *manifests.Client
	nodes   []*corev1.Node
}

// start returns a new control plane on which no scheduler runs, and none of Volcano's programs that the system does not need.
func (s *Settings) start(ctx context.Context, p *peer) (*site, error) {
	cluster, options := load.Cluster(s.Nodes), p.options
	options.StateDir, options.Topology = filepath.Join(s.Folder, "peers-state"), cluster
	made, err := live.Open(ctx, options, times.Policy, s.Patience)
	if err != nil {
		return nil, err
	}
	at := &site{Site: made, nodes: cluster.Nodes()}
	if at.objects, err = manifests.NewClient(at.RESTConfig()); err == nil {
		err = at.MakeNamespace(ctx, before)
	}
	for _, name := range []string{sandbox.Scheduler, sandbox.VolcanoController, sandbox.VolcanoWebhooks} {
		if err == nil && !slices.Contains(p.helpers, name) {
			err = at.Kill(name, syscall.SIGTERM)
		}
	}
	if err != nil {
		return nil, errors.Join(err, at.Close(true))
	}
	return at, nil
}

// apply applies objects, namespaces and CRDs first, and tries again where a CRD or a webhook is not ready.
func (at *site) apply(ctx context.Context, what string, objects []*unstructured.Unstructured) error {
	first := []string{"CustomResourceDefinition", "Namespace"}
	slices.SortStableFunc(objects, func(a, b *unstructured.Unstructured) int {
		return slices.Index(first, b.GetKind()) - slices.Index(first, a.GetKind())
	})
	return at.Until(ctx, what+" to be applied", func(ctx context.Context) (err error) {
		if at.objects, err = manifests.NewClient(at.RESTConfig()); err != nil { // a new one knows new CRDs
			return err
		}
		return at.objects.Apply(ctx, "", "bench-peers", objects...)
	})
}

// configure writes the configuration of a component, and returns its path.
func (at *site) configure(file string, data any) (string, error) {
	text, err := render(file, data)
	if err != nil {
		return "", err
	}
	path := filepath.Join(at.StateDir(), file)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return "", fmt.Errorf("write the configuration: %w", err)
	}
	return path, nil
}

// creators create at the same time.
const creators = 32

// submit creates objects, the first ones first. One that exists was submitted before.
func (at *site) submit(ctx context.Context, objects []*unstructured.Unstructured) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(creators)
	for _, o := range objects {
		group.Go(func() error {
			if _, err := at.objects.Create(ctx, "", metav1.CreateOptions{}, o); err != nil && !apierrors.IsAlreadyExists(err) {
				return fmt.Errorf("submit gangs: %w", err)
			}
			return nil
		})
	}
	return group.Wait()
}

// observe begins a history of a namespace. What was logged before is not in it.
func (at *site) observe(namespace string) error {
	at.History = times.New("")
	if err := at.Read(); err != nil {
		return err
	}
	at.History = times.New(namespace)
	return nil
}
