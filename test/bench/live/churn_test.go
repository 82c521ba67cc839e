// SPDX-License-Identifier: Apache-2.0

package live

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAwaitedEvents(t *testing.T) {
	type seen struct {
		after   time.Duration
		missing int
	}
	for name, test := range map[string]struct {
		seen []seen
		over time.Duration
	}{
		"none is missing":         {[]seen{{0, 0}}, 0},
		"all have come":           {[]seen{{0, 2}, {time.Second, 1}, {2 * time.Second, 0}}, 2 * time.Second},
		"the others come no more": {[]seen{{0, 2}, {20 * time.Second, 1}, {50 * time.Second, 1}, {51 * time.Second, 1}}, 51 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			var awaited awaitedEvents
			begin := time.Now()
			for _, s := range test.seen {
				require.Equal(t, s.after == test.over, awaited.over(s.missing, begin.Add(s.after)), s.after)
			}
		})
	}
}
