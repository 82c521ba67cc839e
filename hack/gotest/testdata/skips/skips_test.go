// SPDX-License-Identifier: Apache-2.0

package skips

import "testing"

func TestPasses(*testing.T) {}

func TestSkips(t *testing.T) {
	t.Run("a part", func(t *testing.T) { t.Skip("no such machine") })
}
