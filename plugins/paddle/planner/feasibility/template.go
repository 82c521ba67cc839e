// SPDX-License-Identifier: Apache-2.0

package feasibility

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	v1helper "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/helper"
	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/conf"
	"volcano.sh/volcano/pkg/scheduler/framework"
	"volcano.sh/volcano/pkg/scheduler/plugins/predicates"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// Filters are the filters of Kubernetes that Volcano's plugin predicates applies to a pod template.
type Filters struct {
	Enabled         bool // the plugin is
	NodeAffinity    bool
	TaintToleration bool
}

// FiltersOf returns the filters that a configuration enables.
func FiltersOf(tiers []conf.Tier) (f Filters) {
	for _, tier := range tiers {
		for i := range tier.Plugins {
			if option := &tier.Plugins[i]; option.Name == predicates.PluginName && option.EnabledPredicate != nil && *option.EnabledPredicate {
				f = Filters{Enabled: true, NodeAffinity: true, TaintToleration: true}
				framework.Arguments(option.Arguments).GetBool(&f.NodeAffinity, predicates.NodeAffinityEnable)
				framework.Arguments(option.Arguments).GetBool(&f.TaintToleration, predicates.TaintTolerationEnable)
			}
		}
	}
	return f
}

// Matches reports whether a node matches the node selector and the required node affinity of a pod.
func (f Filters) Matches(node *corev1.Node, required nodeaffinity.RequiredNodeAffinity) bool {
	if !f.NodeAffinity {
		return true
	}
	match, err := required.Match(node)
	return match && err == nil
}

func (f Filters) permit(node *corev1.Node, required nodeaffinity.RequiredNodeAffinity, tolerations []corev1.Toleration) bool {
	if !f.Matches(node, required) {
		return false
	}
	if !f.TaintToleration {
		return true
	}
	_, untolerated := v1helper.FindMatchingUntoleratedTaint(node.Spec.Taints, tolerations, helper.DoNotScheduleTaintsFilterFunc())
	return !untolerated
}

// permittedNodes returns the nodes that the template of a pod permits; nil is the set of all nodes. They depend on nothing but
// node selector, node affinity and tolerations.
func (c *Checker) permittedNodes(pod *corev1.Pod) *placement.NodeSet {
	read := corev1.PodSpec{NodeSelector: pod.Spec.NodeSelector, Tolerations: pod.Spec.Tolerations}
	if pod.Spec.Affinity != nil {
		read.Affinity = &corev1.Affinity{NodeAffinity: pod.Spec.Affinity.NodeAffinity}
	}
	template, err := read.Marshal()
	if err != nil { // impossible with these types; the predicates are called for each node
		return nil
	}
	set, ok := c.permitted[string(template)]
	if !ok {
		set = c.findPermitted(pod)
		c.permitted[string(template)] = set
	}
	return set
}

func (c *Checker) findPermitted(pod *corev1.Pod) *placement.NodeSet {
	required := nodeaffinity.GetRequiredNodeAffinity(pod)
	set, all := placement.NewNodeSet(c.Topology), true
	for id := range placement.NodeID(c.Topology.Nodes()) {
		node := c.Nodes[c.Topology.NodeName(id)]
		// Predicates decide about a node that the session does not have.
		if node == nil || node.Node == nil || c.Filters.permit(node.Node, required, pod.Spec.Tolerations) {
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

// equivalent reports whether predicates see no difference between two pods but names and indexes. What only the kubelet or
// the containers read is left out, and so are the names of volumes, which Volcano generates.
func (c *Checker) equivalent(a, b *api.TaskInfo) bool {
	return c.sameKeys(a.Pod.Labels, b.Pod.Labels) && c.sameKeys(a.Pod.Annotations, b.Pod.Annotations) &&
		a.InitResreq.Equal(b.InitResreq, api.Zero) && sameSpecs(&a.Pod.Spec, &b.Pod.Spec)
}

// sameKeys reports whether labels or annotations are the same, but for those of which each pod has its own value.
func (c *Checker) sameKeys(a, b map[string]string) bool {
	for key, value := range a {
		if other, ok := b[key]; !ok || other != value && !c.PerPodKey(key) {
			return false
		}
	}
	return len(a) == len(b)
}

// sameSpecs reports whether predicates see no difference between two specs. It runs for each pod of a gang: what pods rarely
// have is compared by reflection, the rest field by field.
func sameSpecs(a, b *corev1.PodSpec) bool {
	return a.HostNetwork == b.HostNetwork && a.PriorityClassName == b.PriorityClassName && maps.Equal(a.NodeSelector, b.NodeSelector) &&
		(a.Affinity == b.Affinity || apiequality.Semantic.DeepEqual(a.Affinity, b.Affinity)) &&
		slices.EqualFunc(a.Tolerations, b.Tolerations, func(a, b corev1.Toleration) bool { return a.MatchToleration(&b) }) &&
		equalEach(a.TopologySpreadConstraints, b.TopologySpreadConstraints) &&
		equalEach(a.ResourceClaims, b.ResourceClaims) &&
		slices.EqualFunc(a.InitContainers, b.InitContainers, sameContainers) && slices.EqualFunc(a.Containers, b.Containers, sameContainers) &&
		slices.EqualFunc(a.Volumes, b.Volumes, func(a, b corev1.Volume) bool {
			return apiequality.Semantic.DeepEqual(a.VolumeSource, b.VolumeSource)
		})
}

// sameContainers reports whether predicates see no difference between two containers.
func sameContainers(a, b corev1.Container) bool {
	return maps.EqualFunc(a.Resources.Requests, b.Resources.Requests, resource.Quantity.Equal) &&
		maps.EqualFunc(a.Resources.Limits, b.Resources.Limits, resource.Quantity.Equal) &&
		slices.Equal(a.Resources.Claims, b.Resources.Claims) && slices.Equal(a.Ports, b.Ports)
}

func equalEach[T any](a, b []T) bool {
	return slices.EqualFunc(a, b, func(a, b T) bool { return apiequality.Semantic.DeepEqual(a, b) })
}

// dependsOnOtherPods reports whether predicates about a pod depend on other pods, on volumes or on claims. Their results are
// then valid until a pod of the job is placed.
func dependsOnOtherPods(spec *corev1.PodSpec) bool {
	return spec.Affinity != nil && (spec.Affinity.PodAffinity != nil || spec.Affinity.PodAntiAffinity != nil) ||
		len(spec.TopologySpreadConstraints) > 0 || len(spec.ResourceClaims) > 0 || len(hostPorts(spec)) > 0 ||
		slices.ContainsFunc(spec.Volumes, func(v corev1.Volume) bool {
			return v.PersistentVolumeClaim != nil || v.Ephemeral != nil || v.CSI != nil
		})
}

// mayBecomeFeasible reports whether a node that is infeasible for a pod may be feasible for it once other pods of its job are
// placed, or for an equivalent pod. Such a pod has affinity to pods of the job or topology spread constraints, or its own
// volumes or devices.
func mayBecomeFeasible(job *api.JobInfo, pod *corev1.Pod) bool {
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
