// SPDX-License-Identifier: Apache-2.0

package live

import (
	"os"
	"testing"
)

// All reports whether everything is tested (make test-all), and not only what every change is tested with.
func All() bool { return os.Getenv("TEST_ALL") == "1" }

// SkipUnlessAll skips a test that is slow and rarely finds anything, unless everything is tested.
func SkipUnlessAll(t testing.TB) {
	t.Helper()
	if !All() {
		t.Skip("slow: make test-all runs it")
	}
}
