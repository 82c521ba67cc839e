// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/utils/ptr"
	scheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/conf"
	"volcano.sh/volcano/pkg/scheduler/framework"
	"volcano.sh/volcano/pkg/scheduler/plugins/util"

	paddlejob "github.com/paddle-volcano/paddle-volcano/plugins/paddle/job"
)

func optionNames(tiers []conf.Tier) [][]string {
	all := make([][]string, len(tiers))
	for i, tier := range tiers {
		all[i] = []string{}
		for _, option := range tier.Plugins {
			all[i] = append(all[i], option.Name)
		}
	}
	return all
}

func TestWrapTiers(t *testing.T) {
	yes, no := ptr.To(true), ptr.To(false)
	own := conf.PluginOption{
		Name: PluginName, EnabledPreemptable: no, EnabledReclaimable: yes, EnabledHyperNodeGradient: yes, EnabledJobOrder: yes,
	}
	configured := []conf.Tier{
		{Plugins: []conf.PluginOption{{Name: "priority"}, own, {Name: "gang", EnabledPreemptable: yes}}},
		{Plugins: []conf.PluginOption{{Name: "predicates"}}},
		{Plugins: []conf.PluginOption{own}},
	}
	before := []conf.Tier{
		{Plugins: slices.Clone(configured[0].Plugins)}, {Plugins: slices.Clone(configured[1].Plugins)}, {Plugins: slices.Clone(configured[2].Plugins)},
	}
	p, c := opened(t), newCluster(t, stock)
	for i := range 2 { // once for each place in which the configuration names the plugin
		ssn := framework.OpenSession(c.cache, nil, nil)
		ssn.Tiers = configured
		p.ssn = ssn
		for range i + 1 {
			p.wrapTiers(ssn)
		}
		require.Equal(t, before, configured, "all sessions share the configuration")
		require.Equal(t, [][]string{
			{firstName}, {vetoName, "priority", PluginName, "gang"}, {vetoName, "predicates"}, {vetoName, PluginName},
		}, optionNames(ssn.Tiers))
		first := ssn.Tiers[0].Plugins[0]
		require.Same(t, no, first.EnabledPreemptable, "what is switched off stays off")
		require.Same(t, yes, first.EnabledReclaimable)
		require.Same(t, yes, first.EnabledHyperNodeGradient)
		require.True(t, *first.EnabledJobPipelined)
		require.Nil(t, first.EnabledJobOrder)
		veto := ssn.Tiers[2].Plugins[0]
		require.Equal(t, conf.PluginOption{Name: vetoName, EnabledPreemptable: no, EnabledReclaimable: yes}, veto)

		p.withStockTiers(func() {
			require.Equal(t, [][]string{{"priority", "gang"}, {"predicates"}, {}}, optionNames(ssn.Tiers))
			require.Equal(t, configured[0].Plugins[2], ssn.Tiers[0].Plugins[1])
		})
		require.Equal(t, firstName, ssn.Tiers[0].Plugins[0].Name)
	}
}

// Jobs that are not Paddle's get the HyperNodes that they get without the plugin, wherever it is configured.
func TestGradientsOfOtherJobs(t *testing.T) {
	const aware = "  - name: network-topology-aware\n"
	gradient := func(configuration string) (job, sub [][]string) {
		group := podGroup("tf", 2, map[string]int32{"worker": 2})
		group.Spec.NetworkTopology = &scheduling.NetworkTopologySpec{Mode: scheduling.HardNetworkTopologyMode, HighestTierAllowed: ptr.To(1)}
		group.Spec.SubGroupPolicy = []scheduling.SubGroupPolicySpec{{
			Name: "all", SubGroupSize: ptr.To(int32(2)), MatchLabelKeys: []string{"volcano.sh/task-spec"},
			NetworkTopology: group.Spec.NetworkTopology,
		}}
		// s1{n1: [tf][tf]  n2: [tf][tf]}  s2{n3: [tf]}
		c := newCluster(t, configuration, group, withLabel(plainPods("tf", "worker", 2, oneCPU), "volcano.sh/task-spec", "worker"),
			podGroup("job", 2, map[string]int32{"worker": 2}), pods("job", "worker", 2, oneCPU),
			node("n1", cpus("2")), node("n2", cpus("2")), node("n3", cpus("1")))
		c.racks(map[string][]string{"s1": {"n1", "n2"}, "s2": {"n3"}})
		ssn := framework.OpenSession(c.cache, c.tiers, nil)
		defer framework.CloseSession(ssn)
		listed := func(gradients [][]*api.HyperNodeInfo) [][]string {
			all := [][]string{}
			for _, gradient := range gradients {
				list := []string{}
				for _, hyperNode := range gradient {
					list = append(list, hyperNode.Name)
				}
				slices.Sort(list)
				all = append(all, list)
			}
			return all
		}
		tf, top := ssn.Jobs[namespace+"/tf"], ssn.HyperNodes[framework.ClusterTopHyperNode]
		for _, id := range slices.Sorted(maps.Keys(tf.SubJobs)) {
			sub = append(sub, listed(ssn.HyperNodeGradientForSubJobFn(tf.SubJobs[id], top))...)
		}
		return listed(ssn.HyperNodeGradientForJobFn(tf, top)), sub
	}
	for name, test := range map[string]struct{ without, with string }{
		"after network-topology-aware": {tier(2, "", aware), tier(2, "", aware+withPaddle)},
		"before it":                    {tier(2, "", aware), tier(2, withPaddle, aware)},
		"in another tier":              {tier(2, "", aware), "- plugins:\n" + withPaddle + tier(2, "", aware)},
		"without it":                   {tier(2, "", ""), tier(2, withPaddle, "")},
	} {
		t.Run(name, func(t *testing.T) {
			job, sub := gradient(configuration(actionsAll, tier(1, "", ""), test.without))
			require.NotEmpty(t, job)
			require.NotEmpty(t, sub)
			got, gotSub := gradient(configuration(actionsAll, tier(1, "", ""), test.with))
			require.Equal(t, job, got)
			require.Equal(t, sub, gotSub)
		})
	}
}

// The votes of a plugin that is configured earlier do not keep the plugin from being called.
func TestFirstAnswersInEveryPlace(t *testing.T) {
	inEveryEvictingPlacement(t, actionsPreempt, func(t *testing.T, configuration string) {
		c := newCluster(t, configuration, podGroup("job", 4, twoTwo), pods("job", "ps", 2, nothing), pods("job", "worker", 2, oneCPU),
			podGroup("tf", 2, nil), plainPods("tf", "worker", 2, oneCPU))
		ssn := framework.OpenSession(c.cache, c.tiers, nil)
		defer framework.CloseSession(ssn)
		ssn.AddJobPipelinedFn("priority", func(any) int { return util.Permit })
		require.False(t, ssn.JobPipelined(ssn.Jobs[namespace+"/job"]))
		for _, task := range paddlejob.InOrder(ssn.Jobs[namespace+"/tf"]) {
			require.NoError(t, ssn.Jobs[namespace+"/tf"].UpdateTaskStatus(task, api.Pipelined))
		}
		require.True(t, ssn.JobPipelined(ssn.Jobs[namespace+"/tf"]))
		ssn.AddJobPipelinedFn("priority", func(any) int { return util.Reject })
		require.False(t, ssn.JobPipelined(ssn.Jobs[namespace+"/tf"]), "the other plugins' rejection counts")
		ssn.AddJobStarvingFns("priority", func(any) bool { return false })
		require.False(t, ssn.JobStarving(ssn.Jobs[namespace+"/job"]), "the other plugins' rejection counts")
		require.False(t, ssn.JobStarving(ssn.Jobs[namespace+"/tf"]))
	})
}

// A Paddle job with a hard networkTopology is tried in the one HyperNode of its plan, wherever network-topology-aware is
// configured, and is placed alike.
//
//	      s1              s2
//	 n1       n2      n3       n4
//	2 CPUs  1 CPU   2 CPUs   2 CPUs
func TestOrderBesideNetworkTopologyAwareDoesNotMatter(t *testing.T) {
	const aware = "  - name: network-topology-aware\n"
	for name, configuration := range map[string]string{
		"after paddle":                  configuration(actionsAll, tier(1, "", withPaddle+aware), tier(2, "", "")),
		"before paddle":                 configuration(actionsAll, tier(1, "", aware+withPaddle), tier(2, "", "")),
		"before paddle, a tier earlier": configuration(actionsAll, "- plugins:\n"+aware, tier(1, "", withPaddle), tier(2, "", "")),
		"after paddle, a tier later":    configuration(actionsAll, tier(1, withPaddle, ""), tier(2, "", aware)),
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, configuration, node("n1", cpus("2")), node("n2", cpus("1")), node("n3", cpus("2")), node("n4", cpus("2")),
				within(podGroup("job", 3, map[string]int32{"worker": 3}), hardMode, 1), pods("job", "worker", 3, oneCPU))
			c.racks(map[string][]string{"s1": {"n1", "n2"}, "s2": {"n3", "n4"}})
			ssn := framework.OpenSession(c.cache, c.tiers, nil)
			gradients := ssn.HyperNodeGradientForJobFn(ssn.Jobs[namespace+"/job"], ssn.HyperNodes[framework.ClusterTopHyperNode])
			framework.CloseSession(ssn)
			require.Len(t, gradients, 1)
			require.Len(t, gradients[0], 1)
			require.Equal(t, "s1", gradients[0][0].Name)

			require.Equal(t, planning{placed: 1, taken: 3}, planned(t, c.session))
			require.Equal(t, map[string]string{"job-worker-0": "n1", "job-worker-1": "n1", "job-worker-2": "n2"}, c.nodes())
		})
	}
}
