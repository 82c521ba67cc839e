// SPDX-License-Identifier: Apache-2.0

package report

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

func TestFormatResources(t *testing.T) {
	for _, test := range []struct {
		amounts map[corev1.ResourceName]float64
		want    string
	}{
		{map[corev1.ResourceName]float64{"nvidia.com/gpu": 8000, "cpu": 16000, "memory": 64 * gib}, "8 GPUs, 16 CPUs and 64 GiB of memory"},
		{map[corev1.ResourceName]float64{"nvidia.com/gpu": 1000, "cpu": 1000, "memory": gib}, "1 GPU, 1 CPU and 1 GiB of memory"},
		{map[corev1.ResourceName]float64{"cpu": 1250}, "1.25 CPUs"},
		{map[corev1.ResourceName]float64{"cpu": 12250}, "12.3 CPUs"},
		{map[corev1.ResourceName]float64{"memory": 512 * mib, "pods": 8000}, "512 MiB of memory and 8 pods"},
		{map[corev1.ResourceName]float64{"memory": 1e9}, "953.7 MiB of memory"},
		{
			map[corev1.ResourceName]float64{"ephemeral-storage": 10 * gib * 1000, "hugepages-2Mi": 64 * mib * 1000, "cpu": 1000},
			"64 MiB of hugepages-2Mi, 1 CPU and 10 GiB of disk",
		},
		{map[corev1.ResourceName]float64{"nvidia.com/mig-1g.5gb": 2000, "huawei.com/npu": 1000}, "1 NPU and 2 nvidia.com/mig-1g.5gb"},
		{nil, ""},
	} {
		require.Equal(t, test.want, FormatResources(test.amounts))
	}
}

// What is available never looks like as much as is requested where it is less.
func TestNumber_RoundsRequestedUpAndAvailableDown(t *testing.T) {
	unit := unitFor(corev1.ResourceMemory, 8*gib)
	require.Equal(t, "7.9", unit.number(8*gib-1, false))
	require.Equal(t, "8", unit.number(8*gib-1, true))
	require.Equal(t, "0", unit.number(-gib, false))
	require.Equal(t, "0", unit.number(-1, true))
	gpu := unitFor("nvidia.com/gpu", 8000)
	require.Equal(t, "5", gpu.number(5600, false))
	require.Equal(t, "6", gpu.number(0.6*10*1000, false), "6.000000000000001")
}

func TestShortage(t *testing.T) {
	short := Shortage{Name: "nvidia.com/gpu", Available: 6000, Requested: 8000}
	require.Equal(t, "queue q has capacity for 6 of the 8 GPUs that the job needs", short.Sentence("queue q", "the job needs"))
	require.Equal(t, Resource{Name: "nvidia.com/gpu", Requested: "8", Available: "6"}, short.Resource())
	short = Shortage{Name: corev1.ResourceMemory, Available: -gib, Requested: 0.5 * gib}
	require.Equal(t, "node n1 has capacity for none of the 512 MiB of memory that one more worker needs", short.Sentence("node n1", "one more worker needs"))
	require.Equal(t, Resource{Name: "memory", Requested: "512Mi", Available: "0"}, short.Resource())
}

func TestSuggestions(t *testing.T) {
	require.Equal(t, Suggestion{Kind: AllowTier, Text: "it fits without a networkTopology limit"}, SuggestTier("", false))
	require.Equal(t, Suggestion{Kind: AllowTier, Value: "2", Also: AllowColocationPreferred, Text: "it fits with tier 2 and colocation Preferred"}, SuggestTier("2", true))
	require.Equal(t, Suggestion{Kind: FewerReplicas, Role: "worker", Value: "1", Text: "it fits with 1 worker"}, SuggestFewer("worker", 1))
	gpus := map[corev1.ResourceName]float64{"nvidia.com/gpu": 2000}
	for want, nodes := range map[string][]string{
		" (on n1 and n2)": {"n1", "n2"}, " (on 3 nodes)": {"n1", "n2", "n3"}, " (on n1)": {"n1"}, "": {"r1"},
	} {
		require.Equal(t, "it fits with 2 GPUs more in rack r1"+want, SuggestMore("rack", "r1", gpus, nodes).Text)
	}
}

func TestPlace(t *testing.T) {
	require.Equal(t, "the cluster", Place("cluster", "cluster"))
	require.Equal(t, "rack r1", Place("rack", "r1"))
	require.Equal(t, "domain s1 of tier 1", Place("tier 1", "s1"))
}

func TestShorten(t *testing.T) {
	require.Equal(t, "whole", Shorten("whole", 5))
	require.Equal(t, "line\n...", Shorten("line\nanother line", 12))
	require.Equal(t, "long...", Shorten("longer than that", 7))
	require.Equal(t, "é...", Shorten("éééé", 6))
	require.LessOrEqual(t, len(Shorten(strings.Repeat("é\n", 999), 100)), 100)
}
