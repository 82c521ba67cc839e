// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"slices"
	"strings"
)

// productLabel is the label of a node with the model of its GPUs. NVIDIA's GPU feature discovery sets it.
const productLabel = "nvidia.com/gpu.product"

// Parts of a product's name that imply how its GPUs are linked. SXM modules older than SXM3 have no NVSwitch; NVL cards
// have bridges, and which cards they join is not in their name.
var (
	apart    = []string{"MIG", "SHARED"}
	cards    = []string{"PCIE", "NVL", "A2", "A10", "A10G", "A16", "A30", "A40", "L2", "L4", "L20", "L40", "L40S", "P4", "P40", "RTX", "T4"}
	switched = []string{"SXM3", "SXM4", "SXM5", "SXM6", "HBM3", "HBM3E", "H20", "H200", "H800", "B100", "B200", "B300", "GB200", "GB300"}
)

// socketGPUs is how many PCIe cards a machine has before it is assumed to have two sockets with half of them each.
const socketGPUs = 4

// productIslands returns the islands of a machine with so many GPUs of a product, as the label names it or a driver: one
// where NVSwitch joins them all, one for each NUMA node where they are PCIe cards; nil where the name does not imply it. MIG
// slices and shared GPUs are no whole GPUs.
func productIslands(product string, gpus int) []int {
	parts := strings.FieldsFunc(strings.ToUpper(product), func(r rune) bool { return r == '-' || r == ' ' || r == '_' })
	is := func(names []string) bool {
		return slices.ContainsFunc(parts, func(part string) bool { return slices.Contains(names, part) })
	}
	switch {
	case is(apart):
		return nil
	case is(cards) && gpus > socketGPUs:
		return []int{gpus - gpus/2, gpus / 2}
	case is(cards) || is(switched):
		return []int{gpus}
	default:
		return nil
	}
}

// isSwitched reports whether NVSwitch is known to join all GPUs of a product.
func isSwitched(product string) bool { return len(productIslands(product, 2*socketGPUs)) == 1 }
