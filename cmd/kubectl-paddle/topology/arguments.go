// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// Where the scheduler's configuration is, and what its plugin is called there.
const (
	ConfigNamespace = "volcano-system"
	plugin          = "paddle"
	labelsArgument  = "topology-labels"
)

// ConfigNames are ConfigMaps of the scheduler, the first that is there counting: ours in place of Volcano's, as the chart installs
// it, and the one under Volcano's name.
func ConfigNames() []string {
	return []string{"paddle-scheduler-configmap", "volcano-scheduler-configmap"}
}

// Configured are the labels that the plugin's argument topology-labels names in the data of the scheduler's ConfigMap.
func Configured(data map[string]string) ([]string, error) {
	for _, key := range slices.Sorted(maps.Keys(data)) {
		if !strings.HasSuffix(key, ".conf") {
			continue
		}
		var conf struct {
			Tiers []struct {
				Plugins []struct {
					Name      string         `json:"name"`
					Arguments map[string]any `json:"arguments"`
				} `json:"plugins"`
			} `json:"tiers"`
		}
		if err := yaml.Unmarshal([]byte(data[key]), &conf); err != nil {
			return nil, fmt.Errorf("read %s of the scheduler's ConfigMap: %w", key, err)
		}
		for _, tier := range conf.Tiers {
			for _, p := range tier.Plugins {
				if p.Name == plugin {
					return Keys(p.Arguments[labelsArgument]), nil
				}
			}
		}
	}
	return nil, nil
}

// Keys are a list of labels, which may be one text with commas.
func Keys(value any) (keys []string) {
	var texts []any
	switch value := value.(type) {
	case string:
		for part := range strings.SplitSeq(value, ",") {
			texts = append(texts, part)
		}
	case []any:
		texts = value
	}
	for _, text := range texts {
		if key := strings.TrimSpace(fmt.Sprint(text)); key != "" {
			keys = append(keys, key)
		}
	}
	return keys
}
