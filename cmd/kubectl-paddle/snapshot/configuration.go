// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"fmt"
	"io"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/config"
)

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
