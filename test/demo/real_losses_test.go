// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLosses(t *testing.T) {
	const trained = "trained: loss 0.6939 -> 0.5130, model sha256 3bde"
	two := Role{Name: "worker", Pods: 2}
	good := []string{"trainer 1 of 2, servers [a b]", "step 1 loss 0.6804", "step 10 loss 0.6113", trained}
	tests := []struct {
		name string
		logs map[string][]string
		want []string
	}{
		{name: "both train", logs: map[string][]string{"w-0": good, "w-1": good}},
		{name: "only one tells", logs: map[string][]string{"w-0": good, "w-1": {"trainer 1 of 2"}},
			want: []string{"the logs of 1 pods of role worker tell of training, not of 2"}},
		{name: "the loss rises", logs: map[string][]string{"w-0": good, "w-1": {"step 1 loss 0.5", "step 10 loss 0.4", "step 20 loss 0.6", trained}},
			want: []string{"the loss of w-1 has not fallen: 0.5000 -> 0.6000"}},
		{name: "the loss stays", logs: map[string][]string{"w-0": good, "w-1": {"step 1 loss 0.5", "step 10 loss 0.5", trained}},
			want: []string{"the loss of w-1 has not fallen: 0.5000 -> 0.5000"}},
		{name: "one step", logs: map[string][]string{"w-0": good, "w-1": {"step 1 loss 0.5", trained}},
			want: []string{"the log of w-1 tells of 1 steps, not of several"}},
		{name: "no steps", logs: map[string][]string{"w-0": good, "w-1": {trained}},
			want: []string{"the log of w-1 tells of 0 steps, not of several"}},
		{name: "never done", logs: map[string][]string{"w-0": good, "w-1": good[:3]},
			want: []string{"the log of w-1 does not say that it is trained"}},
		{name: "nobody tells", want: []string{"the logs of 0 pods of role worker tell of training, not of 2"}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			l := losses{}
			for pod, log := range tc.logs {
				for _, text := range log {
					l.hear(pod, "worker", text)
				}
			}
			require.Equal(t, tc.want, l.faults(two))
		})
	}
}

func TestLossesOfServersAreNotCounted(t *testing.T) {
	l := losses{}
	for _, text := range []string{"step 1 loss 0.6804", "step 10 loss 0.6113", "trained: loss 0.6939 -> 0.5130, model sha256 3bde"} {
		l.hear("ps-0", "ps", text)
	}
	require.Equal(t, []string{"the logs of 0 pods of role worker tell of training, not of 1"}, l.faults(Role{Name: "worker", Pods: 1}))
	require.Equal(t, "ps-0, steps 1 to 10: loss 0.6804 -> 0.6113", l.summary())
}
