// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestProductIslands(t *testing.T) {
	one, halves := []int{8}, []int{4, 4}
	for product, want := range map[string][]int{
		"NVIDIA-A100-SXM4-80GB": one, "NVIDIA-A100-SXM4-40GB": one, "A100-SXM4-40GB": one, "NVIDIA-A800-SXM4-80GB": one,
		"NVIDIA-H100-80GB-HBM3": one, "NVIDIA H100 80GB HBM3": one, "NVIDIA-H800": one, "NVIDIA-H20": one, "NVIDIA-H20-3e": one,
		"NVIDIA-H200": one, "NVIDIA-B200": one, "NVIDIA-B300": one, "NVIDIA-GB200": one, "Tesla-V100-SXM3-32GB": one,
		"NVIDIA-A100-PCIE-40GB": halves, "NVIDIA-A100-80GB-PCIe": halves, "NVIDIA-A800-80GB-PCIe": halves, "NVIDIA-H100-PCIe": halves,
		"NVIDIA-H800-PCIe": halves, "NVIDIA-H100-NVL": halves, "NVIDIA-H200-NVL": halves, "NVIDIA-L40S": halves, "NVIDIA-L40": halves,
		"NVIDIA-L20": halves, "NVIDIA-L4": halves, "NVIDIA-A10": halves, "NVIDIA-A30": halves, "NVIDIA-A40": halves, "Tesla-T4": halves,
		"Tesla-V100-PCIE-16GB": halves, "NVIDIA-GeForce-RTX-4090": halves, "NVIDIA-RTX-6000-Ada-Generation": halves,
		// Of these the name does not tell, or they are no whole GPUs.
		"": nil, "Tesla-V100-SXM2-32GB": nil, "Kunlunxin-P800": nil,
		"NVIDIA-A100-SXM4-40GB-SHARED": nil, "NVIDIA-H100-80GB-HBM3-MIG-1g.10gb": nil, "Tesla-T4-SHARED": nil,
	} {
		require.Equal(t, want, productIslands(product, 8), product)
	}
}

func TestProductIslands_OneSocket(t *testing.T) {
	for gpus, want := range map[int][]int{2: {2}, 4: {4}, 5: {3, 2}, 6: {3, 3}, 10: {5, 5}, 16: {8, 8}} {
		require.Equal(t, want, productIslands("NVIDIA-L40S", gpus))
		require.Equal(t, []int{gpus}, productIslands("NVIDIA-H20", gpus))
	}
}
