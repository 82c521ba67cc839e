// SPDX-License-Identifier: Apache-2.0

package command

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/describe"
	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/plan"
)

func TestPlanText(t *testing.T) {
	t.Parallel()
	best := 0.0
	fits := &plan.Plan{
		Name: "wide", Fits: true, Unit: plan.Bytes,
		Roles: []plan.Role{
			{Name: "ps", Pods: 2, Places: []plan.Place{{Node: "n1", Domain: "b/r1", Pods: 1}, {Node: "n2", Domain: "b/r1", Pods: 1}}},
			{Name: "worker", Pods: 4, Places: []plan.Place{{Node: "n1", Domain: "b/r1", Pods: 2}, {Node: "n3", Domain: "b/r2", Pods: 1}}},
		},
		Traffic:   []plan.Traffic{{Tier: "node", Now: 3 << 29, Best: &best}, {Tier: "tier2", Now: 0}},
		Evicted:   []plan.Gang{{Namespace: "team", Name: "low", Pods: 1}},
		Displaced: []plan.Gang{{Namespace: "team", Name: "lost", Pods: 3}}, Notes: []string{"something is left out"},
	}
	require.Equal(t, `wide fits once others have been evicted: team/low (1 pod).

ROLE     PODS     WHERE
ps       2        b/r1: n1 x1, n2 x1
worker   3 of 4   b/r1: n1 x2
                  b/r2: n3 x1

EACH STEP SENDS            HERE      ON AN EMPTY CLUSTER
between nodes              1.5 GiB   nothing
between domains of tier2   nothing   -

Pods on the removed nodes that need other nodes: team/lost (3 pods).
Note: something is left out.
`, planText(fits))

	why := []describe.Sentence{{About: describe.AboutReason, Text: "Not enough resources."}, {About: describe.AboutHelp, Text: "Wait for others."}}
	waits := &plan.Plan{Name: "big", Why: why, First: []plan.Gang{{Namespace: "a", Name: "b", Pods: 2}}, Empty: plan.Empty{Fits: true, Where: "4 workers are on 1 node."}}
	text := "big does not fit now: it would wait.\n  Not enough resources.\n  What helps:\n  - Wait for others.\nJobs that wait already would take their nodes in the same moment: a/b (2 pods).\n"
	require.Equal(t, text+"It would fit on an empty cluster: 4 workers are on 1 node.\n", planText(waits))
	waits.Blocked = true
	require.Equal(t, text+"Without them it would fit.\n", planText(waits))
	waits.Blocked, waits.Empty = false, plan.Empty{Why: why}
	require.Equal(t, text+"It would not fit on an empty cluster either.\n", planText(waits))
}

func TestLongPlansAreCut(t *testing.T) {
	t.Parallel()
	p := &plan.Plan{Name: "wide", Fits: true, Roles: []plan.Role{{Name: "worker", Pods: 40}}}
	for i := range 40 {
		p.Roles[0].Places = append(p.Roles[0].Places, plan.Place{Node: fmt.Sprint("n", i), Domain: fmt.Sprint("r", i), Pods: 1})
		p.Displaced = append(p.Displaced, plan.Gang{Namespace: "team", Name: fmt.Sprint("j", i), Pods: 1})
	}
	text := planText(p)
	require.Contains(t, text, "r11: n11 x1\n")
	require.Contains(t, text, "and 28 more places (-o yaml has all)\n")
	require.Contains(t, text, "team/j4 (1 pod) and 35 others.\n")
	require.Less(t, strings.Count(text, "\n"), 20)
}
