// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"testing"

	"github.com/stretchr/testify/require"
	"volcano.sh/volcano/pkg/scheduler/api"
)

// Each case is what the actions call, in order: V is JobValid, a letter in lower case Allocatable for that task, one in
// upper case PrePredicate; want says for each PrePredicate whether allocate asked.
func TestOnlyAllocateIsToldNodes(t *testing.T) {
	for _, test := range []struct {
		name, calls string
		want        []bool
	}{
		{"allocate", "VVaAbB", []bool{true, true}},
		{"a quota refuses the first task", "Vab" + "B", []bool{true}},
		{"backfill after allocate", "VaA" + "VB", []bool{true, false}},
		{"preempt asks Allocatable afterwards", "VAaBb", []bool{false, false}},
		{"preempt asks for the same task twice", "VAaA", []bool{false, false}},
		{"preempt, then allocate", "VAaA" + "VaA", []bool{false, false, true}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var p phase
			var got []bool
			for _, call := range test.calls {
				switch {
				case call == 'V':
					p.begin()
				case call >= 'a':
					p.allocatable(api.TaskID(string(call)))
				default:
					got = append(got, p.allocates(api.TaskID(string(call-'A'+'a'))))
				}
			}
			require.Equal(t, test.want, got)
		})
	}
}
