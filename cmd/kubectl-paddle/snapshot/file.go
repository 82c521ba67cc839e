// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/config"
)

// Write writes a snapshot in the form that a file's name asks for: YAML for .yaml and .yml, JSON for .json, and JSON packed
// by gzip for any other.
func (s *Snapshot) Write(out io.Writer, name string) error {
	text, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("write the snapshot as JSON: %w", err)
	}
	switch {
	case strings.HasSuffix(name, ".yaml"), strings.HasSuffix(name, ".yml"):
		if text, err = yaml.JSONToYAML(text); err != nil {
			return fmt.Errorf("write the snapshot as YAML: %w", err)
		}
	case strings.HasSuffix(name, ".json"):
		text = append(text, '\n')
	default:
		packer := gzip.NewWriter(out)
		_, err := packer.Write(text)
		return errors.Join(err, packer.Close())
	}
	_, err = out.Write(text)
	return err
}

// Read reads a snapshot in any of the forms that Write writes.
func Read(in io.Reader) (*Snapshot, error) {
	buffered := bufio.NewReader(in)
	in = buffered
	if magic, _ := buffered.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		unpacked, err := gzip.NewReader(buffered)
		if err != nil {
			return nil, fmt.Errorf("unpack the snapshot: %w", err)
		}
		in = unpacked
	}
	text, err := io.ReadAll(in)
	if err != nil {
		return nil, fmt.Errorf("read the snapshot: %w", err)
	}
	if !bytes.HasPrefix(text, []byte("{")) {
		if text, err = yaml.YAMLToJSON(text); err != nil {
			return nil, fmt.Errorf("read the snapshot as YAML: %w", err)
		}
	}
	s := &Snapshot{}
	if err := json.Unmarshal(text, s); err != nil {
		return nil, fmt.Errorf("read the snapshot: %w", err)
	}
	if s.Kind != Kind || s.APIVersion != Version {
		return nil, fmt.Errorf("it is a %q of %q and no snapshot that is known here, a %s of %s: take one with kubectl paddle snapshot", s.Kind, s.APIVersion, Kind, Version)
	}
	return s, nil
}

// ReadConfiguration reads the text of volcano-scheduler.conf from a file that is one, or from a manifest with the ConfigMap
// that holds it.
func ReadConfiguration(in io.Reader) (string, error) {
	file, err := io.ReadAll(in)
	if err != nil {
		return "", fmt.Errorf("read the scheduler's configuration: %w", err)
	}
	texts, err := config.Find(file)
	if err != nil {
		return "", fmt.Errorf("read the scheduler's configuration: %w", err)
	}
	return texts[0], nil
}
