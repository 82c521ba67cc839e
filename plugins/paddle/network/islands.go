// SPDX-License-Identifier: Apache-2.0

package network

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"volcano.sh/volcano/pkg/scheduler/api"
)

// maxIslands of a node is placement's limit.
const maxIslands = 64

// islandsOf is the sizes of a node's islands, from the first source that knows; nil where the node is one island. doubt
// says which source was not used and why, "" if all is well.
func (n *Network) islandsOf(info *api.NodeInfo) (sizes []int, doubt string) {
	gpus, kinds := n.total(info)
	if gpus < 2 || kinds != 1 || info.Node == nil {
		return nil, ""
	}
	if sizes := n.slices.islands(info.Node.Name, gpus); sizes != nil {
		return several(sizes), ""
	}
	if text, ok := info.Node.Annotations[linksAnnotation]; ok {
		sizes, err := parseLinks(text)
		if err == nil && sum(sizes) != gpus {
			err = fmt.Errorf("it has %d GPUs, the node %d", sum(sizes), gpus)
		}
		if err == nil {
			return several(sizes), ""
		}
		doubt = err.Error()
	}
	return several(productIslands(info.Node.Labels[productLabel], gpus)), doubt
}

// total is how many GPUs a node has, those that are unhealthy included, and of how many kinds.
func (n *Network) total(info *api.NodeInfo) (gpus, kinds int) {
	for _, name := range n.columns.accelerators {
		var most int64
		for _, amounts := range []*api.Resource{info.Allocatable, info.Capacity} {
			if amounts != nil {
				most = max(most, floored(amounts.Get(corev1.ResourceName(name)), scalarUnit))
			}
		}
		if most > 0 {
			gpus += int(most)
			kinds++
		}
	}
	return gpus, kinds
}

// several is nil for one island, which is the node itself, and for more than the planner can hold.
func several(sizes []int) []int {
	if len(sizes) < 2 || len(sizes) > maxIslands {
		return nil
	}
	return sizes
}

func sum(sizes []int) int {
	total := 0
	for _, size := range sizes {
		total += size
	}
	return total
}

// doubts are the warnings about islands.
func doubts(nodes []node) []warning {
	var examples []string
	for i := range nodes {
		if doubt := nodes[i].facts.doubt; doubt != "" {
			examples = append(examples, fmt.Sprintf("%s (%s)", nodes[i].name, doubt))
		}
	}
	if len(examples) == 0 {
		return nil
	}
	return []warning{{fmt.Sprintf("the annotation %s of %d nodes is wrong and not used", linksAnnotation, len(examples)), examples}}
}
