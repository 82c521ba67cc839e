// SPDX-License-Identifier: Apache-2.0

package live

import (
	"errors"
	"os"
	"testing"

	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

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
