// SPDX-License-Identifier: Apache-2.0

package drawing

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	topologyv1alpha1 "volcano.sh/apis/pkg/apis/topology/v1alpha1"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/plan"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/topology"
)

// nodes are named "node rack block", "-" for a label that is not there.
func labelled(lines ...string) (all []*corev1.Node) {
	for _, line := range lines {
		words := strings.Fields(line)
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: words[0], Labels: map[string]string{}}}
		for i, key := range []string{"net.example.com/rack", "net.example.com/block"} {
			if i+1 < len(words) && words[i+1] != "-" {
				node.Labels[key] = words[i+1]
			}
		}
		all = append(all, node)
	}
	return all
}

// drawn is a tree in one line: block(rack(nodes)).
func drawn(d *Domain) string {
	var parts []string
	for _, node := range d.Nodes {
		parts = append(parts, node.Name)
	}
	for _, b := range d.Domains {
		parts = append(parts, fmt.Sprintf("%s(%s)", b.Name, drawn(b)))
	}
	return strings.Join(parts, " ")
}

var labelKeys = []string{"net.example.com/rack", "net.example.com/block"}

func member(kind topologyv1alpha1.MemberType, name string) topologyv1alpha1.MemberSpec {
	return topologyv1alpha1.MemberSpec{Type: kind, Selector: topologyv1alpha1.MemberSelector{ExactMatch: &topologyv1alpha1.ExactMatch{Name: name}}}
}

func hyper(tier int, tierName, name string, members ...topologyv1alpha1.MemberSpec) topologyv1alpha1.HyperNode {
	return topologyv1alpha1.HyperNode{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: topologyv1alpha1.HyperNodeSpec{Tier: tier, TierName: tierName, Members: members}}
}

func TestTiersOfLabels(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		nodes []*corev1.Node
		want  string
		notes []string
	}{
		"two tiers": {labelled("n2 r10 b1", "n10 r2 b1", "n1 r2 b1", "x r2 b2"), "b1(r2(n1 n10) r10(n2)) b2(r2(x))", nil},
		"one is not known": {labelled("n1 r1 b1", "n2 - b1", "n3"), "b1(r1(n1) (n2)) ((n3))", []string{
			"nodes without the label net.example.com/rack, each counts as apart from all others: 2 of 3 (n2, n3)",
			"nodes without the label net.example.com/block, each counts as apart from all others: 1 of 3 (n3)"}},
		"a tier that is not":      {labelled("n1 r1", "n2 r1"), "r1(n1 n2)", []string{"labels that no node has, their tiers are left out: 1 of 2 (net.example.com/block)"}},
		"no tiers: flat, and why": {labelled("n1", "n2"), "n1 n2", []string{"labels that no node has, their tiers are left out: 2 of 2 (net.example.com/rack, net.example.com/block)"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := draw(&Objects{Network: plan.Network{Nodes: tc.nodes, Labels: labelKeys}})
			require.Equal(t, tc.want, drawn(m.Cluster))
			require.Equal(t, tc.notes, m.Notes)
		})
	}
}

func TestSourcesOfTiers(t *testing.T) {
	t.Parallel()
	all := labelled("n1 r1 b1", "n2 r2 b1", "n3 r2 b1")
	none := topologyv1alpha1.MemberSpec{Type: topologyv1alpha1.MemberTypeNode}
	pattern, broken, byLabel := none, none, none
	pattern.Selector.RegexMatch = &topologyv1alpha1.RegexMatch{Pattern: "^n[23]$"}
	broken.Selector.RegexMatch = &topologyv1alpha1.RegexMatch{Pattern: "("}
	byLabel.Selector.LabelMatch = &metav1.LabelSelector{MatchLabels: map[string]string{"net.example.com/rack": "r2"}}
	is := func(name string) topologyv1alpha1.MemberSpec { return member(topologyv1alpha1.MemberTypeNode, name) }
	holds := func(name string) topologyv1alpha1.MemberSpec {
		return member(topologyv1alpha1.MemberTypeHyperNode, name)
	}
	for name, tc := range map[string]struct {
		asked, labels []string
		hypers        []topologyv1alpha1.HyperNode
		source        topology.Source
		tiers         []string
		want          string
		notes         int
	}{
		"the user's labels go first": {asked: labelKeys[1:], hypers: []topologyv1alpha1.HyperNode{hyper(1, "", "h", is("n1"))}, source: topology.SourceLabels, tiers: []string{"block"}, want: "b1(n1 n2 n3)"},
		"HyperNodes before the scheduler's labels": {labels: labelKeys, hypers: []topologyv1alpha1.HyperNode{
			hyper(5, "", "top", holds("h1"), holds("h2")), hyper(2, "pod", "h2", pattern), hyper(2, "", "h1", is("n1")),
		}, source: topology.SourceHyperNodes, tiers: []string{"pod", "tier 5"}, want: "top(h1(n1) h2(n2 n3))"},
		"by label, twice, and outside": {hypers: []topologyv1alpha1.HyperNode{hyper(1, "", "b", is("n2")), hyper(1, "", "a", byLabel)},
			source: topology.SourceHyperNodes, tiers: []string{"tier 1"}, want: "a(n2 n3) (n1)", notes: 2},
		"HyperNodes that hold nothing": {labels: labelKeys[:1], hypers: []topologyv1alpha1.HyperNode{hyper(1, "", "h", is("other"), broken, none)}, source: topology.SourceLabels, tiers: []string{"rack"}, want: "r1(n1) r2(n2 n3)"},
		"nothing":                      {source: topology.SourceFlat, want: "n1 n2 n3"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := draw(&Objects{Network: plan.Network{Nodes: all, Labels: tc.asked, HyperNodes: tc.hypers, SchedulerLabels: tc.labels}})
			require.EqualValues(t, tc.source, m.Source)
			require.Equal(t, tc.tiers, m.Tiers)
			require.Equal(t, tc.want, drawn(m.Cluster))
			require.Len(t, m.Notes, tc.notes, m.Notes)
		})
	}
}

// NVLink domains are a tier where they say more than nodes and the nearest tier do.
func TestTiersOfNVLinkDomains(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		cliques string // of each node, "-" for none
		labels  []string
		tiers   []string
		want    string
	}{
		"none":                   {"----", labelKeys, []string{"rack", "block"}, "b1(r1(n1 n2 n3 n4))"},
		"of one node each":       {"abcd", labelKeys, []string{"rack", "block"}, "b1(r1(n1 n2 n3 n4))"},
		"of two":                 {"aabb", labelKeys, []string{topology.NVLinkTier, "rack", "block"}, "b1(r1(a(n1 n2) b(n3 n4)))"},
		"of some":                {"aa--", labelKeys, []string{topology.NVLinkTier, "rack", "block"}, "b1(r1(a(n1 n2) (n3 n4)))"},
		"the same as the racks":  {"aaaa", labelKeys, []string{"rack", "block"}, "b1(r1(n1 n2 n3 n4))"},
		"where nothing is known": {"aabb", nil, []string{topology.NVLinkTier}, "a(n1 n2) b(n3 n4)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := labelled("n1 r1 b1", "n2 r1 b1", "n3 r1 b1", "n4 r1 b1")
			for i, clique := range strings.Split(tc.cliques, "") {
				if clique != "-" {
					all[i].Labels[topology.CliqueLabel] = clique
				}
			}
			m := draw(&Objects{Network: plan.Network{Nodes: all, SchedulerLabels: tc.labels}})
			require.Equal(t, tc.tiers, m.Tiers)
			require.Equal(t, tc.want, drawn(m.Cluster))
		})
	}
}

func TestCompareNatural(t *testing.T) {
	t.Parallel()
	sorted := []string{"", "1", "2", "10", "a", "a1", "a01", "a2", "a2b", "a10", "b"}
	for i, a := range sorted {
		for j, b := range sorted {
			got := CompareNatural(a, b)
			switch {
			case a == "a1" && b == "a01" || a == "a01" && b == "a1":
				require.NotZero(t, got, "names that differ are never equal")
			case i < j:
				require.Negative(t, got, "%q %q", a, b)
			case i == j:
				require.Zero(t, got)
			default:
				require.Positive(t, got, "%q %q", a, b)
			}
		}
	}
}
