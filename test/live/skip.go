// SPDX-License-Identifier: Apache-2.0

package live

import (
	"errors"
	"os"
	"testing"

	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
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

// RealRefused returns why tests do not run on a real node here: REAL is not set, or the machine does not allow them.
func RealRefused() error {
	if os.Getenv("REAL") == "" {
		return errors.New("REAL is not set: `make test-real` runs it on a real node")
	}
	return sandbox.RealAllowed()
}

// RequireReal skips a test where [RealRefused] returns a reason.
func RequireReal(t *testing.T) {
	t.Helper()
	if err := RealRefused(); err != nil {
		t.Skip(err)
	}
}
