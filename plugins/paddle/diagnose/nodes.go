// SPDX-License-Identifier: Apache-2.0

package diagnose

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/interpodaffinity"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodeports"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/podtopologyspread"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumebinding"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumezone"
	k8sutil "k8s.io/kubernetes/pkg/scheduler/util"
	"volcano.sh/volcano/pkg/scheduler/api"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
)

// blocker is one thing that refuses a node to a pod. Value is what it is about: a taint, a port, a resource.
type blocker struct {
	reason report.Reason
	value  string
}

// blockerOrder decides between blockers that refuse as many nodes.
var blockerOrder = []report.Reason{
	report.NodeUnschedulable, report.UntoleratedTaint, report.VolumeNodeAffinity, report.PersistentVolumeClaimUnbound, report.HostPortConflict,
	report.PodAntiAffinity, report.PodAffinity, report.TopologySpread, report.ResourceClaimNotAllocatable, report.RefusedByPlugin,
	report.TooManyPods, report.InsufficientResources,
}

// checkedNode is what is known about one node for the pods of one role.
type checkedNode struct {
	// matches reports whether the pods' node selector and required node affinity match the node.
	matches bool
	// whenEmpty and now are how many of the pods its resources hold.
	whenEmpty, now int
	// domain is where one of the pods excludes the others; empty where none does.
	domain   string
	blockers []blocker
}

// exclusion is that pods of a gang exclude each other: from nodes by a host port, or from domains by anti-affinity.
type exclusion struct {
	blocker
	needed int // pods that exclude each other
	domain func(*corev1.Node) string
}

type chosenBlocker struct {
	blocker
	nodes   report.Nodes
	missing int
}

// chooseBlocker returns the blocker to report for a role of which needed pods have no node, and false if enough nodes are free
// for them. The node selector is reported only if the nodes that it matches could not hold the pods when empty, and exclusion
// only if the pods fit into too few domains. Otherwise it is the blocker without which most nodes would be free.
func chooseBlocker(role string, checked []checkedNode, needed int, excluded *exclusion) (chosenBlocker, bool) {
	chosen := chosenBlocker{nodes: report.Nodes{Role: role, Total: len(checked)}}
	all, matching, free := newCapacity(), newCapacity(), newCapacity()
	unmatched := 0
	for i := range checked {
		node := &checked[i]
		all.add(node.domain, node.whenEmpty)
		if !node.matches {
			unmatched++
			continue
		}
		matching.add(node.domain, node.whenEmpty)
		if node.whenEmpty > 0 {
			chosen.nodes.Candidates++
		}
		if len(node.blockers) == 0 {
			free.add(node.domain, node.now)
		}
	}
	wanted := needed
	if excluded != nil {
		wanted = excluded.needed
	}
	chosen.missing = max(0, needed-free.pods(excluded != nil))
	if free.pods(excluded != nil) >= wanted {
		return chosen, false
	}
	chosen.missing = max(1, chosen.missing)
	most := chosen.count(checked)
	switch {
	case matching.sum == 0 && all.sum > 0 || matching.sum < needed && all.sum >= needed:
		chosen.reason = report.NodeAffinity
		chosen.nodes.Refused = slices.Insert(chosen.nodes.Refused, 0, report.Refused{Reason: report.NodeAffinity, Nodes: unmatched})
	case excluded != nil && matching.pods(true) < wanted && matching.sum >= wanted:
		chosen.blocker = excluded.blocker
		chosen.nodes.Refused = slices.Insert(chosen.nodes.Refused, 0, report.Refused{Reason: excluded.reason, Value: excluded.value})
	case matching.sum < needed:
		chosen.reason = report.InsufficientResources
	default:
		chosen.blocker = most
	}
	return chosen, true
}

type refusal struct {
	nodes, alone int            // alone: that no other reason refuses
	values       map[string]int // nodes by what the reason is about
}

// count counts the nodes that each reason refuses. It returns the one without which most nodes would be free; where each node
// has several, the one that refuses most.
func (c *chosenBlocker) count(checked []checkedNode) (most blocker) {
	counts := map[report.Reason]*refusal{}
	for i := range checked {
		node := &checked[i]
		if !node.matches || node.whenEmpty == 0 {
			continue
		}
		reasons := sets.New[report.Reason]()
		for _, b := range node.blockers {
			if counts[b.reason] == nil {
				counts[b.reason] = &refusal{values: map[string]int{}}
			}
			counts[b.reason].values[b.value]++
			reasons.Insert(b.reason)
		}
		for reason := range reasons {
			counts[reason].nodes++
			if len(reasons) == 1 {
				counts[reason].alone++
			}
		}
	}
	for reason, of := range counts {
		value := slices.MaxFunc(slices.Sorted(maps.Keys(of.values)), func(a, b string) int { return cmp.Compare(of.values[a], of.values[b]) })
		c.nodes.Refused = append(c.nodes.Refused, report.Refused{Reason: reason, Nodes: of.nodes, Value: value})
	}
	if len(counts) == 0 {
		return most
	}
	slices.SortFunc(c.nodes.Refused, func(a, b report.Refused) int {
		return cmp.Or(cmp.Compare(b.Nodes, a.Nodes), cmp.Compare(slices.Index(blockerOrder, a.Reason), slices.Index(blockerOrder, b.Reason)))
	})
	first := slices.MaxFunc(c.nodes.Refused, func(a, b report.Refused) int { return cmp.Compare(counts[a.Reason].alone, counts[b.Reason].alone) })
	return blocker{reason: first.Reason, value: first.Value}
}

// capacity is how many pods nodes hold: in all, and with one in each domain.
type capacity struct {
	sum     int
	domains map[string]bool
}

func newCapacity() *capacity { return &capacity{domains: map[string]bool{}} }

func (c *capacity) add(domain string, pods int) {
	if c.sum += pods; pods > 0 {
		c.domains[domain] = true
	}
}

func (c *capacity) pods(oneInEachDomain bool) int {
	if oneInEachDomain {
		return len(c.domains)
	}
	return c.sum
}

// filterReasons are the reasons of Kubernetes' filters that other pods and volumes decide. Volcano's plugin predicates calls
// the filters directly and keeps nothing but these texts.
var filterReasons = map[string]report.Reason{
	api.NodePodNumberExceeded: report.TooManyPods,
	nodeports.ErrReason:       report.HostPortConflict,
	interpodaffinity.ErrReasonExistingAntiAffinityRulesNotMatch: report.PodAntiAffinity,
	interpodaffinity.ErrReasonAntiAffinityRulesNotMatch:         report.PodAntiAffinity,
	interpodaffinity.ErrReasonAffinityRulesNotMatch:             report.PodAffinity,
	podtopologyspread.ErrReasonConstraintsNotMatch:              report.TopologySpread,
	podtopologyspread.ErrReasonNodeLabelNotMatch:                report.TopologySpread,
	volumezone.ErrReasonConflict:                                report.VolumeNodeAffinity,
	string(volumebinding.ErrReasonNodeConflict):                 report.VolumeNodeAffinity,
	string(volumebinding.ErrReasonBindConflict):                 report.PersistentVolumeClaimUnbound,
	string(volumebinding.ErrReasonNotEnoughSpace):               report.PersistentVolumeClaimUnbound,
}

// filterBlockers returns the blockers in the error of the session's predicates for a pod on a node.
func filterBlockers(pod *corev1.Pod, err error) (blockers []blocker) {
	var fit *api.FitError
	if !errors.As(err, &fit) {
		return []blocker{{reason: report.RefusedByPlugin, value: err.Error()}}
	}
	for _, status := range fit.Status {
		for _, text := range strings.Split(status.Reason, ", ") {
			reason, known := filterReasons[text]
			b := blocker{reason: reason}
			switch {
			case reason == report.HostPortConflict:
				b.value = portsOf(pod)
			case known:
			case len(pod.Spec.ResourceClaims) > 0 && (status.Plugin == "" || status.Plugin == "predicates"):
				b.reason = report.ResourceClaimNotAllocatable
			default:
				b = blocker{reason: report.RefusedByPlugin, value: strings.TrimPrefix(status.Plugin+": "+text, ": ")}
			}
			if !slices.Contains(blockers, b) {
				blockers = append(blockers, b)
			}
		}
	}
	return blockers
}

func portsOf(pod *corev1.Pod) string {
	var ports []string
	for _, port := range k8sutil.GetHostPorts(pod) {
		ports = append(ports, strconv.Itoa(int(port.HostPort)))
	}
	return strings.Join(ports, ", ")
}

// resourceBlocker returns what a node lacks for one more pod, false if it lacks nothing.
func resourceBlocker(request, idle *api.Resource) (blocker, bool) {
	b, short := blocker{reason: report.TooManyPods}, false
	for _, name := range request.ResourceNames() {
		if amount := request.Get(name); amount <= 0 || amount <= idle.Get(name) {
			continue
		}
		if short = true; name != corev1.ResourcePods && b.reason == report.TooManyPods {
			b = blocker{reason: report.InsufficientResources, value: string(name)}
		}
	}
	return b, short
}

// podsIn returns how many pods of a request fit into some resources.
func podsIn(resources, request *api.Resource) int {
	most := maxPodsOfNode
	for _, name := range request.ResourceNames() {
		if amount := request.Get(name); amount > 0 {
			most = min(most, int(max(0, resources.Get(name))/amount))
		}
	}
	return most
}

const maxPodsOfNode = 1 << 16

// exclusionOf returns how pods of a role exclude each other, nil if they do not. all has one pod of each role and how many of
// them the gang needs.
func exclusionOf(pod *corev1.Pod, needed int, all map[*corev1.Pod]int) *exclusion {
	if affinity := pod.Spec.Affinity; affinity != nil && affinity.PodAntiAffinity != nil {
		for i := range affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
			term := &affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[i]
			selector, err := metav1.LabelSelectorAsSelector(term.LabelSelector)
			if err != nil || !selector.Matches(labels.Set(pod.Labels)) || len(term.Namespaces) > 0 && !slices.Contains(term.Namespaces, pod.Namespace) {
				continue
			}
			of := 0
			for other, n := range all {
				if selector.Matches(labels.Set(other.Labels)) {
					of += n
				}
			}
			key := term.TopologyKey
			return &exclusion{
				blocker: blocker{reason: report.GangAntiAffinity, value: key}, needed: max(needed, of),
				domain: func(node *corev1.Node) string { return node.Labels[key] },
			}
		}
	}
	if ports := portsOf(pod); ports != "" {
		return &exclusion{
			blocker: blocker{reason: report.HostPortConflict, value: ports}, needed: needed,
			domain: func(node *corev1.Node) string { return node.Name },
		}
	}
	return nil
}

func selectorsOf(pod *corev1.Pod) string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(pod.Spec.NodeSelector)) {
		parts = append(parts, key+"="+pod.Spec.NodeSelector[key])
	}
	if affinity := pod.Spec.Affinity; affinity != nil && affinity.NodeAffinity != nil && affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		var terms []string
		for _, term := range affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
			var expressions []string
			for _, e := range append(slices.Clone(term.MatchExpressions), term.MatchFields...) {
				expressions = append(expressions, strings.TrimSpace(e.Key+" "+string(e.Operator)+" "+strings.Join(e.Values, "|")))
			}
			terms = append(terms, strings.Join(expressions, " and "))
		}
		parts = append(parts, strings.Join(terms, " or "))
	}
	return strings.Join(parts, ", ")
}
