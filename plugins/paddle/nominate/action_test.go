// SPDX-License-Identifier: Apache-2.0

package nominate

import (
	"testing"

	"github.com/stretchr/testify/require"
	"volcano.sh/volcano/pkg/scheduler/api"
)

// Each case is what the actions call, in order: V is JobValid, a letter in lower case Allocatable for that task, one in upper
// case PrePredicate. want is by PrePredicate.
func TestActionTracker(t *testing.T) {
	for _, test := range []struct {
		name, calls string
		want        []bool
	}{
		{"allocate", "VVaAbB", []bool{true, true}},
		{"a quota refuses the first task", "Vab" + "B", []bool{true}},
		{"backfill after allocate", "VaA" + "VB", []bool{true, false}},
		{"preempt calls Allocatable afterwards", "VAaBb", []bool{false, false}},
		{"preempt calls for the same task twice", "VAaA", []bool{false, false}},
		{"preempt, then allocate", "VAaA" + "VaA", []bool{false, false, true}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var tracker actionTracker
			var got []bool
			for _, call := range test.calls {
				switch {
				case call == 'V':
					tracker = actionTracker{}
				case call >= 'a':
					tracker.allocatable = api.TaskID(string(call))
				default:
					got = append(got, tracker.inAllocate(api.TaskID(string(call-'A'+'a'))))
				}
			}
			require.Equal(t, test.want, got)
		})
	}
}
