// SPDX-License-Identifier: Apache-2.0

package network

// Keys on nodes that are read here.
const (
	// linksAnnotation holds the links between a node's GPUs; links.go has the format.
	linksAnnotation = "topology.paddlepaddle.org/gpu-links"
	// productLabel is the model of a node's GPUs, and cliqueLabel the NVLink domain that they share with other nodes;
	// NVIDIA's GPU feature discovery sets both.
	productLabel = "nvidia.com/gpu.product"
	cliqueLabel  = "nvidia.com/gpu.clique"
)
