// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"io"
	"runtime"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/paddle-volcano/paddle-volcano/test/bench/result"
)

// spread runs n pieces of work, one for each processor at a time; what it returns does not depend on their number.
func spread[T any](n int, name string, progress io.Writer, work func(i int) T) []T {
	results := make([]T, n)
	var group errgroup.Group
	group.SetLimit(runtime.NumCPU())
	said := time.Now()
	for i := range n {
		group.Go(func() error {
			results[i] = work(i)
			return nil
		})
		if time.Since(said) > 5*time.Second {
			said = time.Now()
			result.Say(progress, "%s: %d of %d", name, i, n)
		}
	}
	_ = group.Wait() // no piece of work fails
	return results
}
