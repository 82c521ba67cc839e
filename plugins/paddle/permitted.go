// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	v1helper "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/helper"
	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/conf"
	"volcano.sh/volcano/pkg/scheduler/framework"
	volcanopredicates "volcano.sh/volcano/pkg/scheduler/plugins/predicates"

	paddlejob "github.com/paddle-volcano/paddle-volcano/plugins/paddle/job"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// templates are the nodes that pods' node selectors, required node affinity and tolerations permit, in one session. The
// answers depend on nothing else, so that jobs share them: they are those of Volcano's plugin predicates, as far as the
// configuration has it look at these.
type templates struct {
	enabled          bool // the plugin predicates is
	affinity, taints bool
	known            map[string]*placement.NodeSet // by key
}

func newTemplates(tiers []conf.Tier) *templates {
	t := &templates{known: map[string]*placement.NodeSet{}}
	for _, tier := range tiers {
		for i := range tier.Plugins {
			if option := &tier.Plugins[i]; option.Name == volcanopredicates.PluginName && option.EnabledPredicate != nil && *option.EnabledPredicate {
				t.enabled, t.affinity, t.taints = true, true, true
				framework.Arguments(option.Arguments).GetBool(&t.affinity, volcanopredicates.NodeAffinityEnable)
				framework.Arguments(option.Arguments).GetBool(&t.taints, volcanopredicates.TaintTolerationEnable)
			}
		}
	}
	return t
}

// permitted are the nodes that a pod's template permits, nil if all.
func (t *templates) permitted(topology *placement.Topology, nodes map[string]*api.NodeInfo, pod *corev1.Pod) *placement.NodeSet {
	restrict := template{NodeSelector: pod.Spec.NodeSelector, Tolerations: pod.Spec.Tolerations}
	if pod.Spec.Affinity != nil {
		restrict.Affinity = &corev1.Affinity{NodeAffinity: pod.Spec.Affinity.NodeAffinity}
	}
	text, err := json.Marshal(restrict)
	if err != nil { // cannot happen with these types; predicates are asked about each node
		return nil
	}
	key := string(text)
	set, ok := t.known[key]
	if !ok {
		set = t.find(topology, nodes, pod)
		t.known[key] = set
	}
	return set
}

func (t *templates) find(topology *placement.Topology, nodes map[string]*api.NodeInfo, pod *corev1.Pod) *placement.NodeSet {
	required := nodeaffinity.GetRequiredNodeAffinity(pod)
	set, all := placement.NewNodeSet(topology), true
	for id := range placement.NodeID(topology.Nodes()) {
		node := nodes[topology.NodeName(id)]
		if node == nil || node.Node == nil || t.permits(node.Node, required, pod.Spec.Tolerations) { // predicates know of such a node
			set.Add(id)
		} else {
			all = false
		}
	}
	if all {
		return nil
	}
	return set
}

func (t *templates) permits(node *corev1.Node, required nodeaffinity.RequiredNodeAffinity, tolerations []corev1.Toleration) bool {
	if !t.matches(node, required) {
		return false
	}
	if !t.taints {
		return true
	}
	_, untolerated := v1helper.FindMatchingUntoleratedTaint(node.Spec.Taints, tolerations, helper.DoNotScheduleTaintsFilterFunc())
	return !untolerated
}

// alike reports whether predicates can tell two pods apart by nothing but their names and indexes. What only the kubelet or
// the containers read is left out, and so are the names of volumes, which Volcano draws by lot.
func alike(a, b *api.TaskInfo) bool {
	return sameTexts(a.Pod.Labels, b.Pod.Labels) && sameTexts(a.Pod.Annotations, b.Pod.Annotations) &&
		a.InitResreq.Equal(b.InitResreq, api.Zero) && sameSpecs(&a.Pod.Spec, &b.Pod.Spec)
}

// sameTexts reports whether labels or annotations are the same, but for those that each pod of a role has another value of.
func sameTexts(a, b map[string]string) bool {
	for key, value := range a {
		if other, ok := b[key]; (!ok || other != value) && !ofOnePod(key) {
			return false
		}
	}
	for key := range b {
		if !hasKey(a, key) && !ofOnePod(key) {
			return false
		}
	}
	return true
}

func ofOnePod(key string) bool {
	return key == paddlejob.TaskIndexKey || key == paddlejob.ResourceNameLabel || strings.HasPrefix(key, paddlejob.Prefix)
}

func sameSpecs(a, b *corev1.PodSpec) bool {
	return a.HostNetwork == b.HostNetwork && a.PriorityClassName == b.PriorityClassName &&
		maps.Equal(a.NodeSelector, b.NodeSelector) && reflect.DeepEqual(a.Affinity, b.Affinity) && reflect.DeepEqual(a.Tolerations, b.Tolerations) &&
		reflect.DeepEqual(a.TopologySpreadConstraints, b.TopologySpreadConstraints) && reflect.DeepEqual(a.ResourceClaims, b.ResourceClaims) &&
		slices.EqualFunc(a.Volumes, b.Volumes, func(a, b corev1.Volume) bool { return reflect.DeepEqual(a.VolumeSource, b.VolumeSource) }) &&
		sameContainers(a.InitContainers, b.InitContainers) && sameContainers(a.Containers, b.Containers)
}

func sameContainers(a, b []corev1.Container) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !slices.Equal(a[i].Ports, b[i].Ports) || !slices.Equal(a[i].Resources.Claims, b[i].Resources.Claims) ||
			!sameAmounts(a[i].Resources.Requests, b[i].Resources.Requests) || !sameAmounts(a[i].Resources.Limits, b[i].Resources.Limits) {
			return false
		}
	}
	return true
}

func sameAmounts(a, b corev1.ResourceList) bool {
	if len(a) != len(b) {
		return false
	}
	for name, amount := range a {
		if other, ok := b[name]; !ok || amount.Cmp(other) != 0 {
			return false
		}
	}
	return true
}

// mayCome reports whether a node that predicates refuse to a pod may suit it once other pods of its job are placed, or suit
// others that are alike: the pod must be near some of the job, or spread, or has volumes or devices of its own.
func mayCome(job *api.JobInfo, pod *corev1.Pod) bool {
	return len(pod.Spec.TopologySpreadConstraints) > 0 || len(pod.Spec.ResourceClaims) > 0 ||
		slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.Ephemeral != nil }) ||
		pod.Spec.Affinity != nil && pod.Spec.Affinity.PodAffinity != nil &&
			slices.ContainsFunc(pod.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution, func(term corev1.PodAffinityTerm) bool {
				return matchesPending(job, term.LabelSelector)
			})
}

// matchesPending reports whether a selector may match a pending pod of a job.
func matchesPending(job *api.JobInfo, selector *metav1.LabelSelector) bool {
	matches, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		return true
	}
	for _, task := range job.TaskStatusIndex[api.Pending] {
		if matches.Matches(labels.Set(task.Pod.Labels)) {
			return true
		}
	}
	return false
}

func hasKey(m map[string]string, key string) bool {
	_, ok := m[key]
	return ok
}
