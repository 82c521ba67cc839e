// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each reason has a row of the table: a remedy, or else nothing has to be done.
func TestHelp_OfEachReason(t *testing.T) {
	source, err := os.ReadFile("reason.go")
	require.NoError(t, err)
	found := regexp.MustCompile(`(?m)^\t?(?:const )?\w+ +Reason = "(\w+)"`).FindAllSubmatch(source, -1)
	require.Greater(t, len(found), 35)
	for _, match := range found {
		if reason := Reason(match[1]); reason != Placed && reason != InvalidAnnotation {
			require.Len(t, (&Report{Reason: reason}).Help(English), 1, reason)
		}
	}
}

// Each change is suggested once: by itself, or in the reason's help.
func TestHelp_HasEachChangeOnce(t *testing.T) {
	for name, test := range map[string]struct {
		reason      Reason
		suggestions []Suggestion
		want        []string
	}{
		"a taint":           {UntoleratedTaint, []Suggestion{Suggest(AddToleration, "a=b:NoSchedule"), Suggest(RemoveTaint, "a=b:NoSchedule")}, []string{"tolerate the taint a=b:NoSchedule in the pod template, or ask an administrator to remove the taint a=b:NoSchedule from nodes"}},
		"an unknown taint":  {UntoleratedTaint, nil, []string{"add the toleration to the pod template, or ask an administrator to remove the taint"}},
		"a port":            {HostPortConflict, []Suggestion{Suggest(ChangeHostPort, "8080")}, []string{"use another host port than 8080, or wait until it is free"}},
		"an overused queue": {QueueOverused, []Suggestion{Suggest(UseAnotherQueue, "q")}, []string{"wait for other jobs to end, use another queue than q, or have the queue's weight or deserved resources raised"}},
		"a full queue":      {QueueCapacity, []Suggestion{Suggest(RaiseQueueCapability, "q"), Suggest(LowerRequest, "6 of a/gpu")}, []string{"wait for other jobs of the queue to end, request no more than 6 of a/gpu, use another queue, or raise the capability of queue q"}},
		"two gates":         {SchedulingGated, []Suggestion{Suggest(RemoveSchedulingGate, "a"), Suggest(RemoveSchedulingGate, "b")}, []string{"remove the scheduling gate a from the pods and remove the scheduling gate b from the pods, or wait until they are removed"}},
		"another tier fits": {TopologyConstraint, []Suggestion{SuggestTier("block", false)}, []string{"it fits with tier block", "wait for other jobs to end"}},
		"no tier fits":      {TopologyConstraint, nil, []string{"wait for other jobs to end, or allow a wider spec.schedulingPolicy.networkTopology"}},
		"fewer workers fit": {InsufficientResources, []Suggestion{SuggestFewer("worker", 2)}, []string{"it fits with 2 workers", "wait for other jobs to end, or request less"}},
		"an object":         {PersistentVolumeClaimNotFound, []Suggestion{Suggest(CreateObject, "PersistentVolumeClaim a")}, []string{"create PersistentVolumeClaim a", "if the name is wrong, correct claimName in the volumes of the pod template"}},
		"another's reason":  {"x", nil, nil},
	} {
		require.Equal(t, test.want, (&Report{Reason: test.reason, Suggestions: test.suggestions}).Help(English), name)
	}
}

func TestSentence(t *testing.T) {
	roles := &Missing{Roles: []Role{{Role: "worker", Minimum: 4, Missing: 2}}}
	nodes := func(candidates int, reason Reason, n int, value string) *Nodes {
		return &Nodes{Role: "worker", Total: 8, Candidates: candidates, Refused: []Refused{{reason, n, value}}}
	}
	for _, test := range []struct {
		report Report
		want   string
	}{
		{Report{Reason: InsufficientResources, Message: "own"}, "own"},
		{Report{Reason: RefusedByPlugin, Message: "own"}, "own"},
		{Report{Reason: NoReadyNodes}, "the cluster has no node that is ready"},
		{
			Report{Reason: UntoleratedTaint, Missing: roles, Nodes: nodes(8, UntoleratedTaint, 3, "a=b:NoSchedule")},
			"2 of 4 workers have no node: the taint a=b:NoSchedule is on 3 of 8 nodes, and the pods do not tolerate it",
		}, {
			Report{Reason: NodeUnschedulable, Missing: &Missing{Roles: []Role{{"server", 1, 1}}}, Nodes: nodes(2, NodeUnschedulable, 2, "n1")},
			"1 of 1 server has no node: cordons exclude 2 of the 2 nodes that match the selectors of the pods and are large enough",
		}, {
			Report{Reason: NodeAffinity, Nodes: nodes(2, NodeAffinity, 6, "gpu=a100")},
			"the node selector or node affinity of the pods (gpu=a100) matches 2 of 8 nodes, which is too few",
		}, {
			Report{Reason: HostPortConflict, Nodes: nodes(8, HostPortConflict, 0, "80")},
			"each pod takes host port 80 and so needs a node of its own, and only 8 nodes can take one each",
		}, {
			Report{Reason: PersistentVolumeClaimNotFound, Missing: &Missing{Objects: []Object{{"PersistentVolumeClaim", "data"}}, Roles: roles.Roles}},
			"2 of 4 workers have no node: PersistentVolumeClaim data does not exist",
		},
		{Report{Reason: InsufficientResources, Missing: roles, Cause: "why"}, "2 of 4 workers do not fit: why"},
		{Report{Reason: RefusedByPlugin, Missing: &Missing{}, Cause: "why"}, "why"},
		{Report{Reason: WaitingForPods, Missing: roles}, "2 of 4 workers do not exist yet: no pod of the gang is started before"},
		{Report{Reason: QueueClosed, Value: "q"}, "queue q is not open: it admits no job and starts no pods"},
		{Report{Reason: TerminatingPods}, "the gang fits once terminating pods are gone"},
	} {
		require.Equal(t, test.want, test.report.Sentence())
	}
}

func TestEncode_IsBounded(t *testing.T) {
	require.Nil(t, Decode(nil))
	require.Nil(t, Decode(map[string]string{Annotation: "no JSON"}))
	small := Report{Reason: UntoleratedTaint, Message: "m", Suggestions: []Suggestion{Suggest(AddToleration, "a=b:NoSchedule")}}
	require.Equal(t, &small, Decode(map[string]string{Annotation: small.Encode()}))

	large := Report{Reason: Placed, Message: strings.Repeat("é", 2000), Placement: &Placement{InBytes: true, Tiers: []Tier{NewTier("node", make([]string, 5000), 1, 0)}}}
	require.Len(t, large.Placement.Tiers[0].Domains, maxNames)
	require.Equal(t, 5000, large.Placement.Tiers[0].Count)
	for i := range 500 {
		name := fmt.Sprintf("node-%d", i)
		large.Placement.Nodes = append(large.Placement.Nodes, Node{Name: name, Pods: map[string]int{"worker": 1}})
		large.Suggestions = append(large.Suggestions, Suggest(Uncordon, name))
	}
	text := large.Encode()
	require.LessOrEqual(t, len(text), maxBytes)
	read := Decode(map[string]string{Annotation: text})
	require.Len(t, read.Suggestions, 1)
	require.Empty(t, read.Placement.Nodes)
	require.Equal(t, large.Placement.Tiers, read.Placement.Tiers)
	require.Len(t, large.Placement.Nodes, 500, "the report itself does not change")
	large.Message = strings.Repeat("é", 20000)
	require.LessOrEqual(t, len(large.Encode()), maxBytes)
	require.Equal(t, Placed, Decode(map[string]string{Annotation: large.Encode()}).Reason)
}

func TestPlacement(t *testing.T) {
	p := &Placement{Tiers: []Tier{NewTier("node", nil, 3.5, 0), NewTier("tier 1", nil, 2, 0), NewTier("block", nil, 0, 0)}}
	require.Equal(t, []string{"a step of training sends 3.5 times the model between nodes and 2 times the model between domains of tier 1"}, p.Sentences())
	require.Equal(t, "nothing between nodes", (&Placement{Tiers: []Tier{NewTier("node", nil, 0, 0)}}).Traffic())
	require.Empty(t, (&Placement{}).Sentences())
	bytes := &Placement{InBytes: true, Tiers: []Tier{NewTier("node", nil, 12<<30, 0.5), NewTier("rack", nil, 1<<20, 0.25)}}
	require.Equal(t, "12 GiB between nodes and 1 MiB between racks", bytes.Traffic())
	require.Equal(t, "0.5 s of each step, between nodes", bytes.Busiest())
	require.False(t, p.Better(bytes, "rack"))
	require.False(t, p.Better(p, "node"))
	require.True(t, p.Better(&Placement{Tiers: []Tier{NewTier("node", nil, 3, 0)}}, "node"))
}
