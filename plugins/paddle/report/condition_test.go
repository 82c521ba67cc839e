// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestConditionMessage(t *testing.T) {
	r := Report{Reason: InsufficientResources, Message: "no\ncapacity"}
	require.Equal(t, "no capacity", r.ConditionMessage())
	r.Suggestions = []Suggestion{Suggest(Uncordon, "n1"), SuggestFewer("worker", 2)}
	require.Equal(t, "no capacity", r.ConditionMessage())
	r.Suggestions = r.Suggestions[1:]
	require.Equal(t, "no capacity; it fits with 2 workers", r.ConditionMessage())

	r = NewPlaced(map[string]map[string]int{"n1": {"worker": 4, "server": 1}}, nil, false)
	require.Equal(t, "1 server and 4 workers are on 1 node\nn1: 1 server and 4 workers", r.ConditionMessage())
	r.Surplus = "2 workers beyond the minimum wait"
	require.Equal(t, "1 server and 4 workers are on 1 node\nn1: 1 server and 4 workers\nwaiting: 2 workers beyond the minimum wait", r.ConditionMessage())
}

func TestConditionMessage_IsBounded(t *testing.T) {
	on := map[string]map[string]int{}
	for i := range 40 {
		on[fmt.Sprintf("n%02d-%s", i, strings.Repeat("long", 50))] = map[string]int{"worker": 8}
	}
	r := NewPlaced(on, nil, false)
	require.LessOrEqual(t, len(r.ConditionMessage()), maxMessage)
	require.True(t, strings.HasSuffix(r.ConditionMessage(), "workers\n..."), "whole lines")
	r.Surplus = "2 workers wait"
	require.LessOrEqual(t, len(r.ConditionMessage()), maxMessage)
	require.True(t, strings.HasSuffix(r.ConditionMessage(), "\nwaiting: 2 workers wait"), "what waits is not cut off")
}

func TestNewPlaced(t *testing.T) {
	on := map[string]map[string]int{}
	for i := range 40 {
		on[fmt.Sprintf("n%02d", i)] = map[string]int{"worker": 1}
	}
	r := NewPlaced(on, []Tier{NewTier("node", nil, 0, 0), NewTier("tier 1", []string{"a", "b"}, 0, 0)}, false)
	require.Equal(t, "40 workers are on 40 nodes in 2 domains of tier 1", r.Message)
	require.Contains(t, r.ConditionMessage(), "n31: 1 worker\nand 8 more nodes")
	r = NewPlaced(on, []Tier{NewTier("node", nil, 0, 0), NewTier("tier 1", []string{"s1"}, 0, 0)}, false)
	require.Equal(t, "40 workers are on 40 nodes of domain s1 of tier 1", r.Message)
	r = NewPlaced(map[string]map[string]int{"n": {}}, nil, false)
	require.Equal(t, "no pods are on 1 node", r.Message)
}

func TestSurplusText(t *testing.T) {
	require.Equal(t, "1 worker beyond the minimum waits", SurplusText(map[string]int{"worker": 1}, ""))
	require.Equal(t, "2 servers and 1 worker beyond the minimum wait: no capacity", SurplusText(map[string]int{"worker": 1, "server": 2}, "no capacity"))
}

// Amounts would be written to each pod whenever they change.
func TestFitError(t *testing.T) {
	require.Equal(t, "the gang waits: condition PaddleScheduled of the PodGroup has the details", FitError(""))
	require.Equal(t, "the gang waits (QueueCapacity): condition PaddleScheduled of the PodGroup has the details", FitError(QueueCapacity))
}
