// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"

	"go.yaml.in/yaml/v3"
)

// configKey is the key of Volcano's ConfigMap under which the configuration stands.
const configKey = "volcano-scheduler.conf"

// file finds the configurations in a file, which is one or a manifest of Kubernetes.
func (c *check) file(text []byte) {
	documents, ok := c.documents(text)
	if !ok {
		return
	}
	var manifests, found int
	for _, document := range documents {
		if at := (spot{node: document, line: 1}); isObject(document) {
			manifests++
			found += c.object(at)
		}
	}
	switch {
	case manifests == 0:
		c.configuration(text, documents)
	case found == 0:
		c.errorAt(spot{}, "no ConfigMap in this manifest has the key %s", configKey)
	}
}

// documents reads a stream of YAML without the empty documents at its end, and fails where it is none.
func (c *check) documents(text []byte) ([]*yaml.Node, bool) {
	var documents []*yaml.Node
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var document yaml.Node
		switch err := decoder.Decode(&document); {
		case errors.Is(err, io.EOF):
			for len(documents) > 0 && empty(documents[len(documents)-1]) {
				documents = documents[:len(documents)-1]
			}
			return documents, true
		case err != nil:
			line, what := yamlError(err)
			c.errorAt(spot{line: line}, "this is not YAML: %s", what)
			return nil, false
		case len(document.Content) == 1:
			documents = append(documents, resolved(document.Content[0]))
		}
	}
}

var yamlErrorForm = regexp.MustCompile(`^yaml: (?:line ([0-9]+): )?`)

// yamlError splits an error of the YAML parser into its line, 0 if it names none, and the rest.
func yamlError(err error) (line int, what string) {
	text := err.Error()
	parts := yamlErrorForm.FindStringSubmatch(text)
	if parts == nil {
		return 0, text
	}
	line, _ = strconv.Atoi(parts[1])
	return line, text[len(parts[0]):]
}

// isObject tells whether a document is an object of Kubernetes.
func isObject(document *yaml.Node) bool {
	if document.Kind != yaml.MappingNode {
		return false
	}
	_, ok := lookup(pairs(spot{node: document}, 0), "kind")
	return ok
}

// object checks each configuration in an object, and counts them.
func (c *check) object(at spot) (found int) {
	if at.node.Kind != yaml.MappingNode {
		return 0
	}
	fields := pairs(at, 0)
	if items, ok := lookup(fields, "items"); ok && items.node.Kind == yaml.SequenceNode {
		for _, item := range items.node.Content {
			found += c.object(spot{node: resolved(item)})
		}
		return found
	}
	kind, _ := lookup(fields, "kind")
	data, ok := lookup(fields, "data")
	if !ok || kind.node == nil || kind.node.Value != "ConfigMap" || data.node.Kind != yaml.MappingNode {
		return 0
	}
	for _, e := range pairs(data, 0) {
		if e.key == configKey {
			found++
			c.embedded(e.spot)
		}
	}
	return found
}

// embedded checks a configuration that is a text in a manifest. Only a literal text keeps its lines.
func (c *check) embedded(at spot) {
	if at.node.Kind != yaml.ScalarNode {
		c.errorAt(at, "it is not a text; write | after %s:", configKey)
		return
	}
	inner := &check{shift: at.node.Line, unplaced: at.node.Style&yaml.LiteralStyle == 0}
	text := []byte(at.node.Value)
	if documents, ok := inner.documents(text); ok {
		inner.configuration(text, documents)
	}
	c.findings = append(c.findings, inner.findings...)
	c.holds = append(c.holds, inner.holds...)
}

// held says what a configuration holds.
func held(actions, plugins, tiers, ours int) string {
	return fmt.Sprintf("%s, %s in %s, %s of %s",
		times(actions, "action"), times(plugins, "plugin"), times(tiers, "tier"), times(ours, "argument"), PluginName)
}
