// SPDX-License-Identifier: Apache-2.0

package network

import (
	"slices"
	"strings"
)

// Parts of a product's name that tell how its GPUs are linked.
var (
	switched = []string{"SXM4", "SXM5", "SXM6", "HBM3", "HBM3E", "H20", "H200", "H800", "B100", "B200", "B300", "GB200", "GB300"}
	onPCIe   = []string{"PCIE", "NVL", "A2", "A10", "A10G", "A16", "A30", "A40", "L2", "L4", "L20", "L40", "L40S", "T4", "P4", "P40"}
)

// socketGPUs is how many cards a machine has on one socket at most before it is thought to have two.
const socketGPUs = 4

// productIslands is the islands of a machine with so many GPUs of a product: one where NVSwitch joins them all, one for
// each socket where they are PCIe cards; nil where the product does not tell. MIG slices and shared GPUs do not tell.
func productIslands(product string, gpus int) []int {
	parts := strings.Split(strings.ToUpper(product), "-")
	is := func(names []string) bool {
		return slices.ContainsFunc(parts, func(part string) bool { return slices.Contains(names, part) })
	}
	switch {
	case is([]string{"MIG", "SHARED"}):
		return nil
	case is([]string{"PCIE", "NVL"}) || is(onPCIe) && !is(switched):
		if gpus <= socketGPUs {
			return []int{gpus}
		}
		return []int{gpus - gpus/2, gpus / 2}
	case is(switched):
		return []int{gpus}
	default:
		return nil
	}
}
