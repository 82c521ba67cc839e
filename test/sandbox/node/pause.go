// SPDX-License-Identifier: Apache-2.0

package node

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
)

// WritePause writes an archive of PauseImage, whose only file is paddle-box.
func WritePause(binary, archive string) error {
	data, err := os.ReadFile(binary)
	if err != nil {
		return fmt.Errorf("make the pause image: %w", err)
	}
	layer, err := tarOf(map[string][]byte{"paddle-box": data}, []string{"paddle-box"})
	if err != nil {
		return err
	}
	digest := func(data []byte) string { sum := sha256.Sum256(data); return hex.EncodeToString(sum[:]) }
	config, err := json.Marshal(map[string]any{
		"architecture": runtime.GOARCH, "os": "linux",
		"config": map[string]any{"Entrypoint": []string{"/paddle-box", "pause"}},
		"rootfs": map[string]any{"type": "layers", "diff_ids": []string{"sha256:" + digest(layer)}},
	})
	if err != nil {
		return fmt.Errorf("make the pause image: %w", err)
	}
	name := digest(config) + ".json"
	manifest, err := json.Marshal([]any{map[string]any{"Config": name, "RepoTags": []string{PauseImage}, "Layers": []string{"layer.tar"}}})
	if err != nil {
		return fmt.Errorf("make the pause image: %w", err)
	}
	image, err := tarOf(map[string][]byte{"layer.tar": layer, name: config, "manifest.json": manifest}, []string{"layer.tar", name, "manifest.json"})
	if err != nil {
		return err
	}
	if err := os.WriteFile(archive, image, 0o600); err != nil {
		return fmt.Errorf("write the pause image: %w", err)
	}
	return nil
}

func tarOf(files map[string][]byte, order []string) ([]byte, error) {
	var out bytes.Buffer
	writer := tar.NewWriter(&out)
	for _, name := range order {
		if err := writer.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(files[name]))}); err != nil {
			return nil, fmt.Errorf("make the pause image: %w", err)
		}
		if _, err := writer.Write(files[name]); err != nil {
			return nil, fmt.Errorf("make the pause image: %w", err)
		}
	}
	if err := writer.Close(); err != nil {
		return nil, fmt.Errorf("make the pause image: %w", err)
	}
	return out.Bytes(), nil
}
