// SPDX-License-Identifier: Apache-2.0

package command

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/story"
	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/whatif"
)

func TestPlanWords(t *testing.T) {
	t.Parallel()
	best := 0.0
	fits := &whatif.Plan{
		Name: "wide", Fits: true, Unit: whatif.Bytes,
		Roles: []whatif.Role{
			{Name: "ps", Pods: 2, Places: []whatif.Place{{Node: "n1", Domain: "b/r1", Pods: 1}, {Node: "n2", Domain: "b/r1", Pods: 1}}},
			{Name: "worker", Pods: 4, Places: []whatif.Place{{Node: "n1", Domain: "b/r1", Pods: 2}, {Node: "n3", Domain: "b/r2", Pods: 1}}},
		},
		Traffic: []whatif.Traffic{{Tier: "node", Now: 3 << 29, Best: &best}, {Tier: "tier2", Now: 0}},
		Evicted: []whatif.Gang{{Namespace: "team", Name: "low", Pods: 1}},
		Gone:    []whatif.Gang{{Namespace: "team", Name: "lost", Pods: 3}}, Notes: []string{"something is left out"},
	}
	require.Equal(t, `wide fits once others have been evicted: team/low (1 pod).

ROLE     PODS     WHERE
ps       2        b/r1: n1 x1, n2 x1
worker   3 of 4   b/r1: n1 x2
                  b/r2: n3 x1

EACH STEP SENDS            HERE      ON AN EMPTY CLUSTER
between nodes              1.5 GiB   nothing
between domains of tier2   nothing   -

With the nodes that are taken away go pods that need a new place: team/lost (3 pods).
Note: something is left out.
`, planWords(fits))

	why := []story.Sentence{{About: story.AboutReason, Text: "There is no room."}, {About: story.AboutHelp, Text: "Wait for others."}}
	waits := &whatif.Plan{Name: "big", Why: why, First: []whatif.Gang{{Namespace: "a", Name: "b", Pods: 2}}, Empty: whatif.Empty{Fits: true, Where: "4 workers are on 1 node."}}
	said := "big does not fit now: it would wait.\n  There is no room.\n  What helps: wait for others.\nJobs that wait already would take their nodes in the same moment: a/b (2 pods).\n"
	require.Equal(t, said+"If nothing else ran on the cluster it would fit: 4 workers are on 1 node.\n", planWords(waits))
	waits.Blocked = true
	require.Equal(t, said+"Without them it would fit.\n", planWords(waits))
	waits.Blocked, waits.Empty = false, whatif.Empty{Why: why}
	require.Equal(t, said+"Nor would it fit if nothing else ran on the cluster.\n", planWords(waits))
}

func TestLongPlansAreCut(t *testing.T) {
	t.Parallel()
	p := &whatif.Plan{Name: "wide", Fits: true, Roles: []whatif.Role{{Name: "worker", Pods: 40}}}
	for i := range 40 {
		p.Roles[0].Places = append(p.Roles[0].Places, whatif.Place{Node: fmt.Sprint("n", i), Domain: fmt.Sprint("r", i), Pods: 1})
		p.Gone = append(p.Gone, whatif.Gang{Namespace: "team", Name: fmt.Sprint("j", i), Pods: 1})
	}
	text := planWords(p)
	require.Contains(t, text, "r11: n11 x1\n")
	require.Contains(t, text, "and 28 more places (-o yaml has all)\n")
	require.Contains(t, text, "team/j7 (1 pod), and 32 more.\n")
	require.Less(t, strings.Count(text, "\n"), 20)
}
