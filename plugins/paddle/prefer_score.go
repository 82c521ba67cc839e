// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
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

// preferenceWeights are the weights that Volcano's nodeorder plugin gives the four preferences by default.
var preferenceWeights = map[string]int{
	nodeorder.NodeAffinityWeight: 2, nodeorder.PodAffinityWeight: 2,
	nodeorder.TaintTolerationWeight: 3, nodeorder.PodTopologySpreadWeight: 2,
}

// scorers rate nodes by a pod's own preferences, with the plugins and the weights of nodeorder. They are asked with what
// runs on the nodes, which nodeorder itself leaves out: it counts no pods where the domain of a spread is the node.
type scorers struct {
	order   *nodeorder.NodeOrderPlugin
	weights map[string]int
}

func newScorers(ssn *framework.Session) *scorers {
	s := &scorers{weights: nodeOrderWeights(ssn.Tiers)}
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

// nodeOrderWeights are the weights that the administrator gave nodeorder; the defaults, where it is not configured.
func nodeOrderWeights(tiers []conf.Tier) map[string]int {
	weights := map[string]int{}
	for key, weight := range preferenceWeights {
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

// scores of each node for a pod, by NodeID; more is better. What can be read counts, also where there is an error.
func (s *scorers) scores(t *placement.Topology, pod *corev1.Pod, w wanted) ([]int64, error) {
	infos, err := s.order.Handle.SnapshotSharedLister().NodeInfos().List()
	errs := []error{err}
	found := make([]int64, len(infos)) // by position in infos
	if w.nodes {
		terms, err := nodeaffinity.NewPreferredSchedulingTerms(pod.Spec.Affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
		for i := 0; err == nil && i < len(infos); i++ {
			found[i] += int64(s.weights[nodeorder.NodeAffinityWeight]) * terms.Score(infos[i].Node())
		}
		errs = append(errs, err)
	}
	for _, scorer := range []struct {
		name, weight string
		asked        bool
	}{
		{interpodaffinity.Name, nodeorder.PodAffinityWeight, w.pods},
		{tainttoleration.Name, nodeorder.TaintTolerationWeight, w.clean},
		{podtopologyspread.Name, nodeorder.PodTopologySpreadWeight, w.spread},
	} {
		if plugin, ok := s.order.ScorePlugins[scorer.name]; ok && scorer.asked {
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

// add adds what one of Kubernetes' plugins says of each node of the session, or nothing where it fails.
func (s *scorers) add(scores []int64, weight int64, plugin nodescore.BaseScorePlugin, pod *corev1.Pod) error {
	ctx, state := context.Background(), k8sframework.NewCycleState()
	infos, err := s.order.Handle.SnapshotSharedLister().NodeInfos().List()
	if err != nil {
		return fmt.Errorf("list nodes to rate them: %w", err)
	}
	status := plugin.PreScore(ctx, state, pod, infos)
	if status.IsSkip() {
		return nil
	}
	if !status.IsSuccess() {
		return fmt.Errorf("prepare %s: %w", plugin.Name(), status.AsError())
	}
	found := make(k8sframework.NodeScoreList, len(infos))
	for i, info := range infos {
		found[i].Name = info.Node().Name
		if found[i].Score, status = plugin.Score(ctx, state, pod, info); !status.IsSuccess() {
			return fmt.Errorf("rate node %s by %s: %w", info.Node().Name, plugin.Name(), status.AsError())
		}
	}
	if status = plugin.ScoreExtensions().NormalizeScore(ctx, state, pod, found); !status.IsSuccess() {
		return fmt.Errorf("compare scores of %s: %w", plugin.Name(), status.AsError())
	}
	for i := range found {
		scores[i] += weight * found[i].Score
	}
	return nil
}
