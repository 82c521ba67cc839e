// SPDX-License-Identifier: Apache-2.0

package passes

import "testing"

func TestPasses(t *testing.T) { t.Log("not printed") }
