// SPDX-License-Identifier: Apache-2.0

package kubeflow

import (
	"context"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/klog/v2"

	kubeflowv1 "github.com/paddle-volcano/paddle-volcano/controller/api/kubeflow/v1"
)

// lookForCRD is how often to see whether the API server has learnt of the kind.
const lookForCRD = 5 * time.Second

// awaitServed returns when the API server knows Kubeflow's PaddleJob, or with the context's error.
func awaitServed(ctx context.Context, api discovery.ServerResourcesInterface, every time.Duration) error {
	logger := klog.FromContext(ctx)
	warnings := false
	return wait.PollUntilContextCancel(ctx, every, true, func(context.Context) (bool, error) {
		is, err := served(api)
		switch {
		case err != nil:
			logger.Error(err, "Cannot ask the API server whether it knows Kubeflow's PaddleJob; asking again")
		case is && warnings:
			logger.Info("The CRD of Kubeflow's PaddleJob has come")
		case !is && !warnings:
			logger.Info("The API server does not know Kubeflow's PaddleJob yet: waiting for its CRD, Kubeflow's own or deploy/v1/kubeflow-crd.yaml",
				"crd", kubeflowv1.Resource+"."+kubeflowv1.GroupName)
			warnings = true
		}
		return is, nil
	})
}

// served reports whether the API server knows Kubeflow's PaddleJob; its group has other kinds.
func served(api discovery.ServerResourcesInterface) (bool, error) {
	list, err := api.ServerResourcesForGroupVersion(kubeflowv1.SchemeGroupVersion.String())
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(list.APIResources, func(r metav1.APIResource) bool { return r.Name == kubeflowv1.Resource }), nil
}
