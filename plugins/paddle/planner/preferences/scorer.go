// SPDX-License-Identifier: Apache-2.0

package preferences

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
