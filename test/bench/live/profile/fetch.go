// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

// piece is how long one profile is; a run has as many as it takes.
const piece = 5 * time.Second

// retry is the pause until a component is asked again that does not serve yet.
const retry = 50 * time.Millisecond

// Follow fetches one profile after the other from host:port into files with this prefix until stop is closed, and returns
// the files. The last one is whole: the component must not be ended before.
func Follow(ctx context.Context, address, prefix string, stop <-chan struct{}) ([]string, error) {
	if err := os.MkdirAll(filepath.Dir(prefix), 0o755); err != nil {
		return nil, fmt.Errorf("make the folder of profiles: %w", err)
	}
	var files []string
	for began := time.Now(); ; {
		file := fmt.Sprintf("%s-%02d.pprof", prefix, len(files))
		err := fetch(ctx, fmt.Sprintf("http://%s/debug/pprof/profile?seconds=%d", address, int(piece.Seconds())), file)
		switch {
		case err == nil:
			files = append(files, file)
		case len(files) > 0 || time.Since(began) > time.Minute || ctx.Err() != nil:
			return files, err
		}
		select {
		case <-stop:
			return files, nil
		case <-time.After(map[bool]time.Duration{true: retry}[err != nil]):
		}
	}
}

func fetch(ctx context.Context, url, file string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return fmt.Errorf("fetch a profile: %w", err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("fetch a profile: %w", err)
	}
	defer response.Body.Close() //nolint:errcheck // it was only read
	text, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("it answers %s", response.Status)
	}
	if err != nil {
		return fmt.Errorf("fetch a profile from %s: %w", url, err)
	}
	if err := os.WriteFile(file, text, 0o644); err != nil {
		return fmt.Errorf("write a profile: %w", err)
	}
	return nil
}
