// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"volcano.sh/volcano/pkg/scheduler/api"

	paddlejob "github.com/paddle-volcano/paddle-volcano/plugins/paddle/job"
)

func TestResourceWords(t *testing.T) {
	for _, test := range []struct {
		asked resources
		want  string
	}{
		{resources{"nvidia.com/gpu": "8", "cpu": "16", "memory": "64Gi"}, "8 GPUs, 16 CPUs and 64 GiB of memory"},
		{resources{"nvidia.com/gpu": "1", "cpu": "1", "memory": "1Gi"}, "1 GPU, 1 CPU and 1 GiB of memory"},
		{resources{"cpu": "1250m"}, "1.25 CPUs"},
		{resources{"cpu": "12250m"}, "12.3 CPUs"},
		{resources{"memory": "512Mi", "pods": "8"}, "512 MiB of memory"},
		{resources{"memory": "1G"}, "953.7 MiB of memory"},
		{resources{"ephemeral-storage": "10Gi", "hugepages-2Mi": "64Mi", "cpu": "1"}, "64 MiB of hugepages-2Mi, 1 CPU and 10 GiB of disk"},
		{resources{"nvidia.com/mig-1g.5gb": "2", "huawei.com/npu": "1"}, "1 NPU and 2 nvidia.com/mig-1g.5gb"},
		{nil, "nothing"},
	} {
		require.Equal(t, test.want, resourceWords(api.NewResource(test.asked.list())))
	}
}

// There is never as much as is asked for where there is less.
func TestNumbersAreRoundedApart(t *testing.T) {
	m := measureOf(corev1.ResourceMemory, 8*gib)
	require.Equal(t, "7.9", m.number(8*gib-1, false))
	require.Equal(t, "8", m.number(8*gib-1, true))
	require.Equal(t, "0", m.number(-gib, false))
	require.Equal(t, "0", m.number(-1, true))
	gpu := measureOf("nvidia.com/gpu", 8000)
	require.Equal(t, "5", gpu.number(5600, false))
	require.Equal(t, "6", gpu.number(0.6*10*1000, false), "6.000000000000001")
}

func TestGangWords(t *testing.T) {
	job := jobInfo(10, nil, nil)
	for want, g := range map[string]paddlejob.Gang{
		"2 servers and 8 workers": {{Task: "ps", Role: paddlejob.Server, Min: 2}, {Task: "a", Role: paddlejob.Worker, Min: 3}, {Task: "b", Role: paddlejob.Worker, Min: 5}},
		"1 server, 1 heter worker, 1 worker and 1 other pod": {
			{Task: "ps", Role: paddlejob.Server, Min: 1}, {Task: "h", Role: paddlejob.Heter, Min: 1}, {Task: "w", Role: paddlejob.Worker, Min: 1}, {Task: "o", Min: 1},
		},
		"1 worker": {{Task: "ps", Role: paddlejob.Server}, {Task: "worker", Role: paddlejob.Worker, Min: 1}},
		"10 pods":  {},
	} {
		require.Equal(t, want, gangWords(job, g))
	}
}

func TestShortened(t *testing.T) {
	require.Equal(t, "whole", shortened("whole", 5))
	require.Equal(t, "line\n...", shortened("line\nanother line", 12))
	require.Equal(t, "long...", shortened("longer than that", 7))
	require.Equal(t, "é...", shortened("éééé", 6))
	require.LessOrEqual(t, len(shortened(strings.Repeat("é\n", 999), 100)), 100)
}
