// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/topology"
)

// configuration is the ConfigMap of the scheduler that jobs get if they name none.
func (c *Clients) configuration(ctx context.Context) (found *corev1.ConfigMap, err error) {
	for _, name := range topology.ConfigNames() {
		if found, err = c.Kube.CoreV1().ConfigMaps(topology.ConfigNamespace).Get(ctx, name, metav1.GetOptions{}); err == nil {
			return found, nil
		}
	}
	return nil, err
}
