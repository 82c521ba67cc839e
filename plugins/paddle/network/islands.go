// SPDX-License-Identifier: Apache-2.0

package network

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"volcano.sh/volcano/pkg/scheduler/api"
)

// maxIslands of a node is placement's limit.
const maxIslands = 64

// doubts say why a source of a node's islands was not used, "" where it was or is not there.
type doubts struct{ published, annotated string }

// islandsOf is the sizes of a node's islands, from the first source that knows: what DRA drivers publish, the annotation,
// the table of products; nil where the node is one island.
func (n *Network) islandsOf(info *api.NodeInfo) (sizes []int, d doubts) {
	kind, gpus := n.columns.total(info)
	if gpus < 2 {
		return nil, d
	}
	product := info.Node.Labels[productLabel]
	sizes, err := n.slices.islands(info.Node.Name, product, kind, gpus)
	if err != nil {
		d.published = err.Error()
	}
	if text, ok := info.Node.Annotations[linksAnnotation]; ok && sizes == nil {
		if sizes, err = linkedIslands(text, gpus); err != nil {
			d.annotated = err.Error()
		}
	}
	if sizes == nil {
		sizes = productIslands(product, gpus)
	}
	if len(sizes) < 2 || len(sizes) > maxIslands {
		return nil, d
	}
	return sizes, d
}

// linkedIslands reads the annotation of a node with so many GPUs.
func linkedIslands(text string, gpus int) ([]int, error) {
	links, err := parseLinks(text)
	if err != nil {
		return nil, err
	}
	if len(links) != gpus {
		return nil, fmt.Errorf("%d GPUs, the node has %d", len(links), gpus)
	}
	return links.islands(), nil
}

// total is the GPUs of a node, those that are unhealthy included; 0 where there are several kinds, whose links nothing
// tells.
func (c *columns) total(info *api.NodeInfo) (kind string, gpus int) {
	for _, name := range c.accelerators {
		var most int64
		for _, amounts := range []*api.Resource{info.Allocatable, info.Capacity} {
			if amounts != nil {
				most = max(most, floored(amounts.ScalarResources[corev1.ResourceName(name)], scalarUnit))
			}
		}
		if most > 0 && gpus > 0 {
			return "", 0
		}
		if most > 0 {
			kind, gpus = name, int(min(most, maxGPUs))
		}
	}
	return kind, gpus
}

// maxGPUs of one island is placement's limit.
const maxGPUs = 1<<15 - 1

func sum(sizes []int) int {
	total := 0
	for _, size := range sizes {
		total += size
	}
	return total
}

// doubtsOf are the warnings about islands.
func doubtsOf(nodes []node) []warning {
	var published, annotated []string
	for i := range nodes {
		if doubt := nodes[i].facts.doubts.published; doubt != "" {
			published = append(published, nodes[i].name+": "+doubt)
		}
		if doubt := nodes[i].facts.doubts.annotated; doubt != "" {
			annotated = append(annotated, nodes[i].name+": "+doubt)
		}
	}
	return append(warned("nodes whose ResourceSlices are not used, they do not show each GPU", published, len(nodes)),
		warned("nodes whose annotation "+linksAnnotation+" is wrong and not used", annotated, len(nodes))...)
}
