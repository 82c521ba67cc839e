// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/config"
)

// configNamespace is the namespace of the scheduler's ConfigMap.
const configNamespace = "volcano-system"

// configNames are the names of the scheduler's ConfigMap, in the order in which they are tried: that of the chart, and that of Volcano.
var configNames = []string{"paddle-scheduler-configmap", "volcano-scheduler-configmap"}

// configuration returns the ConfigMap of the default scheduler.
func (c *Clients) configuration(ctx context.Context) (found *corev1.ConfigMap, err error) {
	for _, name := range configNames {
		if found, err = c.Kube.CoreV1().ConfigMaps(configNamespace).Get(ctx, name, metav1.GetOptions{}); err == nil {
			return found, nil
		}
	}
	return nil, err
}

// topologyLabels returns the plugin's argument from the data of the scheduler's ConfigMap.
func topologyLabels(data map[string]string) ([]string, error) {
	parsed, _, err := config.Parse(config.InData(data))
	if err != nil {
		return nil, fmt.Errorf("read the scheduler's ConfigMap: %w", err)
	}
	for _, tier := range parsed.Tiers {
		for i := range tier.Plugins {
			if tier.Plugins[i].Name == config.PluginName {
				arguments, _ := config.Decode(tier.Plugins[i].Arguments, nil) // errors are the scheduler's to report
				return arguments.TopologyLabels, nil
			}
		}
	}
	return nil, nil
}
