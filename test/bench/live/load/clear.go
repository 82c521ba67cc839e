// SPDX-License-Identifier: Apache-2.0

package load

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"

	"github.com/paddle-volcano/paddle-volcano/test/live"
)

// waves are what a load leaves: owners go first, so that nobody makes again what is gone. Each must be gone before the
// next, for kube-controller-manager may not run to remove what is owned.
var waves = [][]schema.GroupVersionResource{
	{{Group: "batch.paddlepaddle.org", Version: "v1", Resource: "paddlejobs"}},
	{{Group: "batch.volcano.sh", Version: "v1alpha1", Resource: "jobs"}},
	{
		{Version: "v1", Resource: "pods"}, {Group: "scheduling.volcano.sh", Version: "v1beta1", Resource: "podgroups"},
		{Version: "v1", Resource: "events"}, {Version: "v1", Resource: "configmaps"}, {Version: "v1", Resource: "services"},
		{Version: "v1", Resource: "secrets"}, {Group: "networking.k8s.io", Version: "v1", Resource: "networkpolicies"},
	},
}

// rootCertificates is what Kubernetes puts into each namespace.
const rootCertificates = "metadata.name!=kube-root-ca.crt"

// Clear removes everything that a load has left, and waits until it is gone.
func Clear(ctx context.Context, p *live.Plane) error {
	for _, wave := range waves {
		for _, kind := range wave {
			if err := remove(ctx, p, kind); err != nil {
				return err
			}
		}
	}
	return nil
}

func remove(ctx context.Context, p *live.Plane, kind schema.GroupVersionResource) error {
	all := p.Dynamic.Resource(kind).Namespace(Namespace)
	options := metav1.ListOptions{}
	if kind.Resource == "configmaps" {
		options.FieldSelector = rootCertificates
	}
	gone := metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0), PropagationPolicy: ptr.To(metav1.DeletePropagationBackground)}
	err := p.Until(ctx, "all "+kind.Resource+" to be gone", func(ctx context.Context) error {
		if err := all.DeleteCollection(ctx, gone, options); err != nil {
			return err
		}
		ask := options
		ask.Limit = 1
		left, err := all.List(ctx, ask)
		if err == nil && len(left.Items) > 0 {
			err = fmt.Errorf("%s is still there", left.Items[0].GetName())
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("remove the load: %w", err)
	}
	return nil
}
