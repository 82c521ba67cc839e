// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"io"
	"sync"
	"time"
)

// spread runs n pieces of work, dealt out over so many workers; what it returns does not depend on their number.
func spread[T any](n, workers int, name string, progress io.Writer, work func(i int) T) []T {
	results := make([]T, n)
	var done sync.WaitGroup
	said := time.Now()
	for w := range workers {
		done.Add(1)
		go func() {
			defer done.Done()
			for i := w; i < n; i += workers {
				results[i] = work(i)
				if w == 0 && time.Since(said) > 5*time.Second {
					said = time.Now()
					say(progress, "%s: %d of %d\n", name, i, n)
				}
			}
		}()
	}
	done.Wait()
	return results
}
