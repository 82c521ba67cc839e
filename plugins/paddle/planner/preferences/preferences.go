// SPDX-License-Identifier: Apache-2.0

// Package preferences turns the soft constraints of pods into penalties of nodes: preferred node affinity, preferred pod
// affinity and anti-affinity, topology spread ScheduleAnyway, and taints PreferNoSchedule. Scores that serve the cluster as a
// whole (binpack, leastrequested, image locality) are left out.
package preferences

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"
	k8sframework "k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/interpodaffinity"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/podtopologyspread"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/tainttoleration"
	"volcano.sh/volcano/pkg/scheduler/conf"
	"volcano.sh/volcano/pkg/scheduler/framework"
	"volcano.sh/volcano/pkg/scheduler/plugins/nodeorder"
	"volcano.sh/volcano/pkg/scheduler/plugins/util/k8s"
	"volcano.sh/volcano/pkg/scheduler/plugins/util/nodescore"

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
	if len(scores) == 0 || slices.Min(scores) == slices.Max(scores) {
		return nil
	}
	best := slices.Max(scores)
	penalties := make([]int32, len(scores))
	for i, score := range scores {
		penalties[i] = int32(min(best-score, math.MaxInt32))
	}
	return penalties
}

// Scale combines three ranks of penalties into one number. A node on which a pod of the job failed weighs more than the soft
// constraints of all its pods, and these weigh more than leaving the nodes that the pods had.
type Scale struct {
	step int64 // more than all pods of the job can have of the rank below
	most int64 // the largest penalty of a soft constraint
	top  int64 // what it is scaled down to, if the ranks would not fit else
}

// maxStep bounds the members for which the order of ranks is strict. It leaves 2,000 values for soft constraints, twice what
// nodeorder's default weights make of one constraint of each kind.
const maxStep = 1024

// NewScale returns the scale for a job with the given number of pending members whose soft constraints have penalties up to most.
func NewScale(members int, most int32) Scale {
	s := Scale{step: int64(min(members, maxStep)) + 1, most: int64(most)}
	s.top = min(s.most, (math.MaxInt32/(s.step+1)-1)/s.step)
	return s
}

// Penalties returns the penalty of each node, nil if there are none. own are those of soft constraints by NodeID, or nil.
// Nodes that are not among previous, if any are, have a penalty of 1.
func (s Scale) Penalties(nodes int, own []int32, previous, failed []placement.NodeID) []int32 {
	if len(previous) == 0 && len(failed) == 0 {
		return own
	}
	penalties := make([]int32, nodes)
	for id, penalty := range own {
		scaled := int64(penalty)
		if s.most > s.top {
			scaled = (scaled*s.top + s.most - 1) / s.most
		}
		penalties[id] = int32(scaled * s.step)
	}
	if len(previous) > 0 {
		for id := range penalties {
			penalties[id]++
		}
		for _, id := range previous {
			penalties[id]--
		}
	}
	for _, id := range failed {
		penalties[id] += int32((s.top*s.step + 1) * s.step)
	}
	return penalties
}

// defaultWeights are the weights that Volcano's nodeorder plugin gives soft constraints by default.
var defaultWeights = map[string]int{
	nodeorder.NodeAffinityWeight: 2, nodeorder.PodAffinityWeight: 2,
	nodeorder.TaintTolerationWeight: 3, nodeorder.PodTopologySpreadWeight: 2,
}

// nodeScorer scores nodes by the soft constraints of a pod, with the plugins and the weights of nodeorder. Unlike nodeorder it
// passes the pods of the nodes to the plugins: nodeorder counts none where the topologyKey of a spread is the host name.
type nodeScorer struct {
	order   *nodeorder.NodeOrderPlugin
	weights map[string]int
}

func newNodeScorer(ssn *framework.Session) *nodeScorer {
	s := &nodeScorer{weights: nodeOrderWeights(ssn.Tiers)}
	arguments := framework.Arguments{
		nodeorder.LeastRequestedWeight: 0, nodeorder.MostRequestedWeight: 0, nodeorder.BalancedResourceWeight: 0,
		nodeorder.ImageLocalityWeight: 0,
	}
	for key, weight := range s.weights {
		arguments[key] = weight
	}
	s.order, _ = nodeorder.New(arguments).(*nodeorder.NodeOrderPlugin)
	s.order.Handle = k8s.NewFramework(ssn.NodeMap, k8s.WithClientSet(ssn.KubeClient()), k8s.WithInformerFactory(ssn.InformerFactory()))
	s.order.InitPlugin()
	return s
}

// nodeOrderWeights returns the weights that a configuration gives nodeorder, the default where it gives none.
func nodeOrderWeights(tiers []conf.Tier) map[string]int {
	weights := map[string]int{}
	for key, weight := range defaultWeights {
		for _, tier := range tiers {
			for i := range tier.Plugins {
				if tier.Plugins[i].Name == nodeorder.PluginName {
					framework.Arguments(tier.Plugins[i].Arguments).GetInt(&weight, key)
				}
			}
		}
		weights[key] = weight
	}
	return weights
}

// scores returns the score of each node for a pod, by NodeID; more is better. With an error, the scores of the valid
// constraints are returned.
func (s *nodeScorer) scores(t *placement.Topology, pod *corev1.Pod, terms softTerms) ([]int64, error) {
	infos, err := s.order.Handle.SnapshotSharedLister().NodeInfos().List()
	errs := []error{err}
	found := make([]int64, len(infos)) // by position in infos
	if terms.nodeAffinity {
		preferred, err := nodeaffinity.NewPreferredSchedulingTerms(pod.Spec.Affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
		for i := 0; err == nil && i < len(infos); i++ {
			found[i] += int64(s.weights[nodeorder.NodeAffinityWeight]) * preferred.Score(infos[i].Node())
		}
		errs = append(errs, err)
	}
	for _, scorer := range []struct {
		name, weight string
		has          bool
	}{
		{interpodaffinity.Name, nodeorder.PodAffinityWeight, terms.podAffinity},
		{tainttoleration.Name, nodeorder.TaintTolerationWeight, terms.taints},
		{podtopologyspread.Name, nodeorder.PodTopologySpreadWeight, terms.spread},
	} {
		if plugin, ok := s.order.ScorePlugins[scorer.name]; ok && scorer.has {
			errs = append(errs, s.add(found, int64(s.weights[scorer.weight]), plugin, pod))
		}
	}
	scores := make([]int64, t.Nodes())
	for i, info := range infos {
		if id, ok := t.Node(info.Node().Name); ok {
			scores[id] = found[i]
		}
	}
	return scores, errors.Join(errs...)
}

// add adds the weighted scores of a Kubernetes plugin to those of all nodes, or nothing if the plugin fails.
func (s *nodeScorer) add(scores []int64, weight int64, plugin nodescore.BaseScorePlugin, pod *corev1.Pod) error {
	ctx, state := context.Background(), k8sframework.NewCycleState()
	infos, err := s.order.Handle.SnapshotSharedLister().NodeInfos().List()
	if err != nil {
		return fmt.Errorf("list nodes: %w", err)
	}
	status := plugin.PreScore(ctx, state, pod, infos)
	if status.IsSkip() {
		return nil
	}
	if !status.IsSuccess() {
		return fmt.Errorf("prescore by %s: %w", plugin.Name(), status.AsError())
	}
	found := make(k8sframework.NodeScoreList, len(infos))
	for i, info := range infos {
		found[i].Name = info.Node().Name
		if found[i].Score, status = plugin.Score(ctx, state, pod, info); !status.IsSuccess() {
			return fmt.Errorf("score node %s by %s: %w", info.Node().Name, plugin.Name(), status.AsError())
		}
	}
	if status = plugin.ScoreExtensions().NormalizeScore(ctx, state, pod, found); !status.IsSuccess() {
		return fmt.Errorf("normalize scores of %s: %w", plugin.Name(), status.AsError())
	}
	for i := range found {
		scores[i] += weight * found[i].Score
	}
	return nil
}
