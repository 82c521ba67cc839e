// SPDX-License-Identifier: Apache-2.0

// Package preferences turns the soft constraints of pods into penalties of nodes: preferred node affinity, preferred pod
// affinity and anti-affinity, topology spread ScheduleAnyway, and taints PreferNoSchedule. Scores that serve the cluster as a
// whole (binpack, leastrequested, image locality) are left out.
package preferences

import (
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	"volcano.sh/volcano/pkg/scheduler/framework"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// softTerms are the kinds of soft constraints that a pod has.
type softTerms struct {
	nodeAffinity bool
	podAffinity  bool // or anti-affinity
	spread       bool
	taints       bool // there is a taint PreferNoSchedule, which the pod may tolerate
}

func softTermsOf(spec *corev1.PodSpec, tainted bool) softTerms {
	s := softTerms{taints: tainted}
	if affinity := spec.Affinity; affinity != nil {
		s.nodeAffinity = affinity.NodeAffinity != nil && len(affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution) > 0
		s.podAffinity = affinity.PodAffinity != nil && len(affinity.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution) > 0 ||
			affinity.PodAntiAffinity != nil && len(affinity.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution) > 0
	}
	s.spread = slices.ContainsFunc(spec.TopologySpreadConstraints, func(c corev1.TopologySpreadConstraint) bool {
		return c.WhenUnsatisfiable == corev1.ScheduleAnyway
	})
	return s
}

// cacheable reports whether the penalties depend on nodes only, not on pods that are placed during the session.
func (s softTerms) cacheable() bool { return !s.podAffinity && !s.spread }

// Preferences are the soft constraints of pods in one session.
type Preferences struct {
	ssn     *framework.Session
	looked  bool
	tainted bool // a node has a taint PreferNoSchedule
	scorer  *nodeScorer
	known   map[string][]int32 // by cacheKey
}

// New returns the preferences of a session.
func New(ssn *framework.Session) *Preferences {
	return &Preferences{ssn: ssn, known: map[string][]int32{}}
}

// Penalties returns how far the score of each node is below the best one for a pod, by NodeID; nil if all are equal. Pods
// count that are placed now. A soft constraint that is invalid is ignored, because it must not keep the pod pending.
func (p *Preferences) Penalties(t *placement.Topology, pod *corev1.Pod) []int32 {
	terms := softTermsOf(&pod.Spec, p.anyTaint(t))
	if terms == (softTerms{}) {
		return nil
	}
	key := cacheKey(&pod.Spec)
	if known, ok := p.known[key]; ok && terms.cacheable() {
		return known
	}
	if p.scorer == nil {
		p.scorer = newNodeScorer(p.ssn)
	}
	scores, err := p.scorer.scores(t, pod, terms)
	if err != nil {
		klog.V(3).InfoS("Preferences of a pod are left out of the plan", "pod", klog.KObj(pod), "err", err)
	}
	penalties := toPenalties(scores)
	if terms.cacheable() {
		p.known[key] = penalties
	}
	return penalties
}

// cacheKey returns a key that is equal for pods whose penalties are equal as long as these are cacheable.
func cacheKey(spec *corev1.PodSpec) string {
	read := corev1.PodSpec{Tolerations: spec.Tolerations}
	if spec.Affinity != nil {
		read.Affinity = &corev1.Affinity{NodeAffinity: spec.Affinity.NodeAffinity}
	}
	key, _ := read.Marshal() // it cannot fail with these types
	return string(key)
}

// anyTaint reports whether a node has a taint PreferNoSchedule.
func (p *Preferences) anyTaint(t *placement.Topology) bool {
	for id := placement.NodeID(0); !p.looked && int(id) < t.Nodes(); id++ {
		node := p.ssn.Nodes[t.NodeName(id)]
		if node == nil || node.Node == nil {
			continue
		}
		for i := range node.Node.Spec.Taints {
			p.tainted = p.tainted || node.Node.Spec.Taints[i].Effect == corev1.TaintEffectPreferNoSchedule
		}
	}
	p.looked = true
	return p.tainted
}

// toPenalties returns how far each score is below the best one, nil if all are equal.
func toPenalties(scores []int64) []int32 {
	best, equal := int64(math.MinInt64), true
	for _, score := range scores {
		best = max(best, score)
		equal = equal && score == scores[0]
	}
	if equal {
		return nil
	}
	penalties := make([]int32, len(scores))
	for i, score := range scores {
		penalties[i] = int32(min(best-score, math.MaxInt32))
	}
	return penalties
}
