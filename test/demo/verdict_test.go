// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestFaults(t *testing.T) {
	nodes := map[string]Node{
		"cpu": {Rack: "rack-0"},
		"gpu": {Rack: "rack-1", Labels: map[string]string{"gpu": "yes"}},
	}
	onGPU := trains
	onGPU.NodeLabels = map[string]string{"gpu": "yes"}
	unplaced := func(job Job, pods int) *Story {
		story := NewStory(job, 0)
		for i := range pods {
			story.SeePod(Pod{Name: podName("worker", i), Role: "worker"})
		}
		return story
	}
	completed := Status{Mode: "PS", Phase: "Completed"}
	pending := Status{Mode: "PS", Phase: "Pending", Reason: "no room"}
	tests := []struct {
		name   string
		story  *Story
		status Status
		want   []string
	}{
		{name: "completed", story: placed(trains, "cpu"), status: completed},
		{name: "completed where it should", story: placed(onGPU, "gpu"), status: completed},
		{
			name: "completed elsewhere", story: placed(onGPU, "cpu"), status: completed,
			want: []string{
				`pod job-ps-0 ran on cpu, where the label gpu is "", not "yes"`,
				`pod job-worker-0 ran on cpu, where the label gpu is "", not "yes"`,
				`pod job-worker-1 ran on cpu, where the label gpu is "", not "yes"`,
			},
		},
		{
			name: "failed", story: placed(trains, "cpu"), status: Status{Mode: "PS", Phase: "Failed", Reason: "worker 0 exited with 3"},
			want: []string{`its phase is "Failed", not "Completed": worker 0 exited with 3`},
		},
		{
			name: "still running", story: placed(trains, "cpu"), status: Status{Mode: "PS", Phase: "Running"},
			want: []string{`its phase is "Running", not "Completed"`},
		},
		{
			name: "wrong mode", story: placed(trains, "cpu"), status: Status{Mode: "Single", Phase: "Completed"},
			want: []string{`its mode is "Single", not "PS"`},
		},
		{
			name: "pods that nobody placed", story: unplaced(trains, 2), status: completed,
			want: []string{"0 pods of role ps were placed, not 1", "0 pods of role worker were placed, not 2"},
		},
		{name: "stays", story: unplaced(waits, 3), status: pending},
		{
			name: "stays without a reason", story: unplaced(waits, 3), status: Status{Mode: "PS", Phase: "Pending"},
			want: []string{"it gives no reason for being pending"},
		},
		{
			name: "stays without pods", story: unplaced(waits, 2), status: pending,
			want: []string{"it has 2 pods, not 3"},
		},
		{
			name: "does not stay", story: placed(waits, "cpu"), status: Status{Mode: "PS", Phase: "Running", Reason: "x"},
			want: []string{
				"pod job-ps-0 was bound to cpu although its gang does not fit",
				"pod job-worker-0 was bound to cpu although its gang does not fit",
				"pod job-worker-1 was bound to cpu although its gang does not fit",
				`its phase is "Running", not "Pending"`,
			},
		},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			tc.story.SeeStatus(time.Second, tc.status)
			require.Equal(t, tc.want, tc.story.Faults(nodes))
		})
	}
}

func TestConclusion(t *testing.T) {
	require.Equal(t, "Every job ended as it should.", conclusion(nil, "logs"))
	require.Equal(t, "Not every job ended as it should:\n  a: failed\n  b: stuck\nThe logs of all components are in logs.",
		conclusion([]string{"a: failed", "b: stuck"}, "logs"))
}

func TestWarnings(t *testing.T) {
	var w warnings
	w.HandleWarningHeader(299, "-", "unknown field")
	w.HandleWarningHeader(199, "-", "not about the request")
	w.HandleWarningHeader(299, "-", "")
	require.Equal(t, warnings{"unknown field"}, w)
}
