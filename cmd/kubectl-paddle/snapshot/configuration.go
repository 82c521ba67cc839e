// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
	sigsyaml "sigs.k8s.io/yaml"
)

// ReadConfiguration finds the text of volcano-scheduler.conf in a file that is one, or in a manifest with the ConfigMap
// that holds it.
func ReadConfiguration(in io.Reader) (string, error) {
	text, err := io.ReadAll(in)
	if err != nil {
		return "", fmt.Errorf("read the scheduler's configuration: %w", err)
	}
	reader := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return "", errors.New("the file holds neither a volcano-scheduler.conf nor a ConfigMap with one")
		}
		if err != nil {
			return "", fmt.Errorf("read the scheduler's configuration: %w", err)
		}
		var object struct {
			corev1.ConfigMap `json:",inline"`
			Actions          string `json:"actions"`
		}
		if sigsyaml.Unmarshal(document, &object) != nil {
			continue
		}
		if object.Actions != "" {
			return string(document), nil
		}
		if found := ConfigurationIn(object.Data); object.Kind == "ConfigMap" && found != "" {
			return found, nil
		}
	}
}

// ConfigurationIn is the scheduler's configuration among the data of its ConfigMap, whatever release it is called after.
func ConfigurationIn(data map[string]string) string {
	for _, key := range slices.Sorted(maps.Keys(data)) {
		if strings.HasSuffix(key, "scheduler.conf") {
			return data[key]
		}
	}
	return ""
}
