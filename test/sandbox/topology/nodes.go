// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"fmt"
	"maps"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Labels that say where a node stands, in NVIDIA's names: its block is the leaf switch, here the rack.
const (
	LabelRack  = "network.topology.nvidia.com/block"
	LabelBlock = "network.topology.nvidia.com/spine"
)

// TaintSimulated keeps pods off the simulated nodes of the default cluster where there is a real node too.
const TaintSimulated = "sandbox.paddle-volcano.io/simulated"

const (
	defaultPods      = 110
	ephemeralStorage = "500Gi"
	resourceGPU      = corev1.ResourceName("nvidia.com/gpu")
	resourceRDMA     = corev1.ResourceName("rdma/hca")
)

type placedRack struct {
	name, block string
	Rack
}

// racks lists every rack of the cluster, with counts written out.
func (t *Topology) racks() []placedRack {
	var racks []placedRack
	blocks := 0
	for _, b := range t.Blocks {
		for range countOf(b.Count) {
			for _, r := range b.Racks {
				for i := range countOf(r.Count) {
					name := r.Name
					switch {
					case name == "":
						name = "rack-" + strconv.Itoa(len(racks))
					case countOf(r.Count) > 1:
						name += "-" + strconv.Itoa(i)
					}
					racks = append(racks, placedRack{name, "block-" + strconv.Itoa(blocks), r})
				}
			}
			blocks++
		}
	}
	return racks
}

// Nodes returns the nodes of a valid topology, in the order in which it lists them. Node i of rack r is named
// <r>-node-<i>.
func (t *Topology) Nodes() []*corev1.Node {
	var nodes []*corev1.Node
	for _, rack := range t.racks() {
		inRack := 0
		for _, group := range rack.Nodes {
			shape := t.Shapes[group.Shape]
			for range countOf(group.Count) {
				name := rack.name + "-node-" + strconv.Itoa(inRack)
				labels := merged(rack.placeLabels(name), t.Labels, shape.labels(group.Shape), rack.Labels, group.Labels)
				nodes = append(nodes, shape.node(name, len(nodes), labels))
				inRack++
			}
		}
	}
	return nodes
}

func (r placedRack) placeLabels(node string) map[string]string {
	return map[string]string{
		corev1.LabelHostname:       node,
		corev1.LabelOSStable:       "linux",
		corev1.LabelArchStable:     "amd64",
		corev1.LabelTopologyRegion: "sandbox",
		corev1.LabelTopologyZone:   "zone-0",
		LabelRack:                  r.name,
		LabelBlock:                 r.block,
	}
}

func (s Shape) labels(name string) map[string]string {
	labels := map[string]string{corev1.LabelInstanceTypeStable: name}
	if s.GPUs > 0 {
		labels["nvidia.com/gpu.present"] = "true"
		labels["nvidia.com/gpu.count"] = strconv.Itoa(s.GPUs)
	}
	if s.Product != "" {
		labels["nvidia.com/gpu.product"] = s.Product
	}
	return merged(labels, s.Labels)
}

// node builds the node with the given number in the cluster, from which its address follows.
func (s Shape) node(name string, number int, labels map[string]string) *corev1.Node {
	resources := s.resources()
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
		Spec:       corev1.NodeSpec{Taints: s.Taints},
		Status: corev1.NodeStatus{
			Capacity:    resources,
			Allocatable: resources.DeepCopy(),
			Addresses: []corev1.NodeAddress{
				{Type: corev1.NodeInternalIP, Address: nodeIP(number)},
				{Type: corev1.NodeHostName, Address: name},
			},
			NodeInfo: corev1.NodeSystemInfo{
				Architecture: "amd64", OperatingSystem: "linux", OSImage: "simulated",
				KernelVersion: "simulated", ContainerRuntimeVersion: "kwok://simulated", KubeletVersion: "v1.34.1",
			},
		},
	}
}

func (s Shape) resources() corev1.ResourceList {
	pods := defaultPods
	if s.Pods != nil {
		pods = *s.Pods
	}
	list := corev1.ResourceList{
		corev1.ResourceCPU:              resource.MustParse(string(s.CPU)),
		corev1.ResourceMemory:           resource.MustParse(string(s.Memory)),
		corev1.ResourceEphemeralStorage: resource.MustParse(ephemeralStorage),
		corev1.ResourcePods:             *resource.NewQuantity(int64(pods), resource.DecimalSI),
	}
	for name, count := range map[corev1.ResourceName]int{resourceGPU: s.GPUs, resourceRDMA: s.RDMA} {
		if count > 0 {
			list[name] = *resource.NewQuantity(int64(count), resource.DecimalSI)
		}
	}
	return list
}

// nodeIP returns a different address in 10.64.0.0/10 for each node, or pods with hostNetwork would share one.
func nodeIP(number int) string {
	n := number + 1
	return fmt.Sprintf("10.%d.%d.%d", 64+n>>16, n>>8&0xff, n&0xff)
}

func countOf(count *int) int {
	if count == nil {
		return 1
	}
	return *count
}

// merged returns a new map in which later maps win.
func merged(all ...map[string]string) map[string]string {
	out := map[string]string{}
	for _, m := range all {
		maps.Copy(out, m)
	}
	return out
}
