// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"encoding/json"
	"math"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/framework"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// wanted is what pods like one would rather have.
type wanted struct {
	nodes  bool // preferred node affinity
	pods   bool // preferred pod affinity and anti-affinity
	spread bool // topology spread ScheduleAnyway
	clean  bool // none of the taints PreferNoSchedule that there are
}

// wantedBy reads a pod; tainted tells whether any node has a taint PreferNoSchedule.
func wantedBy(spec *corev1.PodSpec, tainted bool) wanted {
	w := wanted{clean: tainted}
	if affinity := spec.Affinity; affinity != nil {
		w.nodes = affinity.NodeAffinity != nil && len(affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution) > 0
		w.pods = affinity.PodAffinity != nil && len(affinity.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution) > 0 ||
			affinity.PodAntiAffinity != nil && len(affinity.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution) > 0
	}
	for i := range spec.TopologySpreadConstraints {
		w.spread = w.spread || spec.TopologySpreadConstraints[i].WhenUnsatisfiable == corev1.ScheduleAnyway
	}
	return w
}

// lasts tells whether a preference looks at nodes only: whatever else is placed in the session, it stays as it is.
func (w wanted) lasts() bool { return !w.pods && !w.spread }

// preferences are the pods' own preferences in one session, as penalties of nodes. What suits the cluster as a whole
// (binpack, leastrequested, image locality) is not among them.
type preferences struct {
	ssn     *framework.Session
	looked  bool
	tainted bool // a node has a taint PreferNoSchedule
	scorers *scorers
	known   map[string][]int32 // by softKey, for preferences that last
}

func newPreferences(ssn *framework.Session) *preferences {
	return &preferences{ssn: ssn, known: map[string][]int32{}}
}

// penalties of each node for a pod like task, by NodeID, 0 for the best ones; nil if all nodes are equal to it. A
// preference that cannot be read counts nothing: it must keep no pod from being placed.
func (p *preferences) penalties(t *placement.Topology, task *api.TaskInfo) []int32 {
	w := wantedBy(&task.Pod.Spec, p.anyTaint(t))
	if w == (wanted{}) {
		return nil
	}
	key := softKey(&task.Pod.Spec)
	if have, ok := p.known[key]; ok && w.lasts() {
		return have
	}
	if p.scorers == nil {
		p.scorers = newScorers(p.ssn)
	}
	scores, err := p.scorers.scores(t, task.Pod, w)
	if err != nil {
		klog.V(3).InfoS("Preferences of a pod are left out of the plan", "pod", klog.KObj(task.Pod), "err", err)
	}
	penalties := below(scores)
	if w.lasts() {
		p.known[key] = penalties
	}
	return penalties
}

// softKey is equal for pods whose preferences that last are equal.
func softKey(spec *corev1.PodSpec) string {
	key := struct {
		Affinity    *corev1.NodeAffinity `json:",omitempty"`
		Tolerations []corev1.Toleration  `json:",omitempty"`
	}{Tolerations: spec.Tolerations}
	if spec.Affinity != nil {
		key.Affinity = spec.Affinity.NodeAffinity
	}
	text, _ := json.Marshal(key) // cannot fail with these types
	return string(text)
}

// anyTaint tells whether a node has a taint PreferNoSchedule.
func (p *preferences) anyTaint(t *placement.Topology) bool {
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

// below is how far each score is below the best one; nil if all are equal.
func below(scores []int64) []int32 {
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
