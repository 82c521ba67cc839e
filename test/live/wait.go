// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

const (
	pollEvery = 50 * time.Millisecond
	// patience is generous: what is waited for takes seconds.
	patience = 3 * time.Minute
)

// Until asks again and again until there is no error. When patience or ctx is over it returns why, with the last error and
// where the logs are.
func (p *Plane) Until(ctx context.Context, what string, try func(context.Context) error) error {
	var last error
	over := wait.PollUntilContextTimeout(ctx, pollEvery, patience, true, func(ctx context.Context) (bool, error) {
		err := try(ctx)
		if last == nil || ctx.Err() == nil {
			last = err // a request that the end of patience cuts off explains nothing
		}
		return err == nil, nil
	})
	if over == nil {
		return nil
	}
	err := fmt.Errorf("gave up waiting for %s (%w): %w", what, over, last)
	if p.Sandbox == nil {
		return err
	}
	return fmt.Errorf("%w (logs in %s)", err, filepath.Join(p.StateDir(), "logs"))
}

// Await is Until for a test, which fails when there still is an error.
func (p *Plane) Await(t testing.TB, what string, try func(context.Context) error) {
	t.Helper()
	if err := p.Until(t.Context(), what, try); err != nil {
		t.Fatal(err)
	}
}
