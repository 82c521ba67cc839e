// SPDX-License-Identifier: Apache-2.0

package config

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	yamlv2 "gopkg.in/yaml.v2"
	"k8s.io/apimachinery/pkg/util/yaml"
	sigsyaml "sigs.k8s.io/yaml"
	"volcano.sh/volcano/pkg/scheduler/conf"
)

// Parse parses volcano-scheduler.conf with Volcano's parser. It also returns what that parser ignores, as strict decoding
// finds it: unknown and duplicate keys, with their lines. It fails for text that Volcano rejects.
func Parse(text string) (parsed *conf.SchedulerConfiguration, ignored []string, err error) {
	parsed = &conf.SchedulerConfiguration{}
	if err := yamlv2.Unmarshal([]byte(text), parsed); err != nil {
		return nil, nil, fmt.Errorf("parse volcano-scheduler.conf: %w", err)
	}
	var strict *yamlv2.TypeError
	if err := yamlv2.UnmarshalStrict([]byte(text), &conf.SchedulerConfiguration{}); errors.As(err, &strict) {
		ignored = strict.Errors
	}
	return parsed, ignored, nil
}

// Find returns the texts of volcano-scheduler.conf in a file. The file is one such text, or a manifest with ConfigMaps
// that hold them.
func Find(file []byte) (texts []string, err error) {
	type object struct {
		Kind string            `json:"kind"`
		Data map[string]string `json:"data"`
	}
	reader := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(file)))
	manifest := false
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("split the documents of the file: %w", err)
		}
		var found struct {
			object `json:",inline"`
			Items  []object `json:"items"`
		}
		if sigsyaml.Unmarshal(document, &found) != nil || found.Kind == "" {
			continue
		}
		manifest = true
		for _, o := range append(found.Items, found.object) {
			if text := InData(o.Data); o.Kind == "ConfigMap" && text != "" {
				texts = append(texts, text)
			}
		}
	}
	switch {
	case len(texts) > 0:
		return texts, nil
	case !manifest && len(bytes.TrimSpace(file)) > 0:
		return []string{string(file)}, nil
	default:
		return nil, errors.New("the file holds neither a volcano-scheduler.conf nor a ConfigMap with one")
	}
}

// InData returns volcano-scheduler.conf from the data of its ConfigMap, "" if there is none. The key ends in
// scheduler.conf; Volcano's charts put the name of the release before it.
func InData(data map[string]string) string {
	for _, key := range slices.Sorted(maps.Keys(data)) {
		if strings.HasSuffix(key, "scheduler.conf") {
			return data[key]
		}
	}
	return ""
}
