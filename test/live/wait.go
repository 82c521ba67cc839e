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

// patience is generous: what is waited for takes seconds.
const patience = 3 * time.Minute

// delays between two questions grow: answers cost most of a sandbox's processor time.
var delays = wait.Backoff{Duration: 50 * time.Millisecond, Factor: 1.5, Cap: 250 * time.Millisecond, Steps: 10}

// Until asks again and again until there is no error. When patience or ctx is over it returns why, with the last error and
// where the logs are.
func (p *Plane) Until(ctx context.Context, what string, try func(context.Context) error) error {
	var last error
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	over := delays.DelayFunc().Until(ctx, true, true, func(ctx context.Context) (bool, error) {
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
