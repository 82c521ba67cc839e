// SPDX-License-Identifier: Apache-2.0

package times

import (
	"context"
	"fmt"
	"time"
)

// Waiter waits for pods.
type Waiter struct {
	// Read reads what has happened.
	Read func() error
	// Failed yields the error of a component that has ended; nil where nobody knows.
	Failed <-chan error
	// Patience is for how long nothing may happen.
	Patience time.Duration
}

// Until reads until count returns want or more. The error of a wait that has ended says how many pods were as wanted.
func (w Waiter) Until(ctx context.Context, what string, want int, count func() int) error {
	last, since := -1, time.Now()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		if err := w.Read(); err != nil {
			return err
		}
		now := count()
		if now >= want {
			return nil
		}
		if now != last {
			last, since = now, time.Now()
		}
		if time.Since(since) > w.Patience {
			return fmt.Errorf("wait for pods to be %s: nothing has happened for %s; %d of %d are", what, w.Patience, now, want)
		}
		select {
		case <-tick.C:
		case err := <-w.Failed:
			return fmt.Errorf("wait for pods to be %s: %w", what, err)
		case <-ctx.Done():
			return fmt.Errorf("wait for pods to be %s: %w; %d of %d are", what, ctx.Err(), now, want)
		}
	}
}
