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
		{map[corev1.ResourceName]float64{"memory": 512 * mib, "pods": 8}, "512 MiB of memory"},
		{map[corev1.ResourceName]float64{"memory": 1e9}, "953.7 MiB of memory"},
		{
			map[corev1.ResourceName]float64{"ephemeral-storage": 10 * gib * 1000, "hugepages-2Mi": 64 * mib * 1000, "cpu": 1000},
			"64 MiB of hugepages-2Mi, 1 CPU and 10 GiB of disk",
		},
		{map[corev1.ResourceName]float64{"nvidia.com/mig-1g.5gb": 2000, "huawei.com/npu": 1000}, "1 NPU and 2 nvidia.com/mig-1g.5gb"},
		{nil, "nothing"},
	} {
		require.Equal(t, test.want, FormatResources(test.amounts))
	}
}

// What is available never looks like as much as is requested where it is less.
func TestNumber_RoundsRequestedUpAndAvailableDown(t *testing.T) {
	unit := UnitFor(corev1.ResourceMemory, 8*gib)
	require.Equal(t, "7.9", unit.Number(8*gib-1, false))
	require.Equal(t, "8", unit.Number(8*gib-1, true))
	require.Equal(t, "0", unit.Number(-gib, false))
	require.Equal(t, "0", unit.Number(-1, true))
	gpu := UnitFor("nvidia.com/gpu", 8000)
	require.Equal(t, "5", gpu.Number(5600, false))
	require.Equal(t, "6", gpu.Number(0.6*10*1000, false), "6.000000000000001")
}

func TestShorten(t *testing.T) {
	require.Equal(t, "whole", Shorten("whole", 5))
	require.Equal(t, "line\n...", Shorten("line\nanother line", 12))
	require.Equal(t, "long...", Shorten("longer than that", 7))
	require.Equal(t, "é...", Shorten("éééé", 6))
	require.LessOrEqual(t, len(Shorten(strings.Repeat("é\n", 999), 100)), 100)
}
