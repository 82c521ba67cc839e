// SPDX-License-Identifier: Apache-2.0

package fails

import "testing"

func TestPasses(t *testing.T) { t.Log("not printed") }

func TestFails(t *testing.T) {
	t.Run("part", func(t *testing.T) { t.Error("the reason") })
}

func TestPanics(*testing.T) { panic("the panic") }
