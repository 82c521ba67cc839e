// SPDX-License-Identifier: Apache-2.0

// Command crdtrim takes the descriptions out of the pod templates of a CRD (standard input to standard output) and leaves
// those of the project's own fields, which kubectl explain shows. Three templates with descriptions make a CRD past the 256 KiB that
// the annotation of a client-side kubectl apply can hold.
package main

import (
	"fmt"
	"io"
	"os"

	"sigs.k8s.io/yaml"
)

func main() {
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "crdtrim:", err)
		os.Exit(1)
	}
}

func run(in io.Reader, out io.Writer) error {
	text, err := io.ReadAll(in)
	if err != nil {
		return fmt.Errorf("reading the CRD: %w", err)
	}
	var crd map[string]any
	if err := yaml.Unmarshal(text, &crd); err != nil {
		return fmt.Errorf("parsing the CRD: %w", err)
	}
	trim(crd, false)
	text, err = yaml.Marshal(crd)
	if err != nil {
		return fmt.Errorf("writing the CRD: %w", err)
	}
	_, err = out.Write(text)
	return err
}

// trim walks a schema; a description that is text goes when it stands inside a pod template, and a property that happens
// to have that name stays.
func trim(value any, inTemplate bool) {
	switch value := value.(type) {
	case map[string]any:
		for key, child := range value {
			if _, isText := child.(string); isText && key == "description" && inTemplate {
				delete(value, key)
				continue
			}
			trim(child, inTemplate || key == "template")
		}
	case []any:
		for _, child := range value {
			trim(child, inTemplate)
		}
	}
}
