// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"fmt"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/config"
)

// ConfigNamespace is the namespace of the scheduler's ConfigMap.
const ConfigNamespace = "volcano-system"

// ConfigNames are ConfigMaps of the scheduler, the first that is there counting: ours in place of Volcano's, as the chart installs
// it, and the one under Volcano's name.
func ConfigNames() []string {
	return []string{"paddle-scheduler-configmap", "volcano-scheduler-configmap"}
}

// Configured returns the plugin's argument topology-labels from the data of the scheduler's ConfigMap.
func Configured(data map[string]string) ([]string, error) {
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
