// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"volcano.sh/volcano/pkg/scheduler/api"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// maxIslands of a node is placement's limit.
const maxIslands = 64

// islandsOf returns the sizes of a node's islands by what DRA drivers publish, else by the table of products; nil where the
// node is one island. unused is why what is published is not used.
func (c *Cache) islandsOf(info *api.NodeInfo) (sizes []int, unused string) {
	kind, gpus := c.resources.total(info)
	if gpus < 2 {
		return nil, ""
	}
	product := info.Node.Labels[productLabel]
	sizes, err := c.slices.islands(info.Node.Name, product, kind, gpus)
	if err != nil {
		unused = err.Error()
	}
	if sizes == nil {
		sizes = productIslands(product, gpus)
	}
	if len(sizes) < 2 || len(sizes) > maxIslands {
		return nil, unused
	}
	return sizes, unused
}

// total returns the GPUs of a node, unhealthy ones included; 0 for a node with several kinds, whose links are not known.
func (r *resourceIndex) total(info *api.NodeInfo) (kind string, gpus int) {
	for _, name := range r.accelerators {
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

func islandWarnings(nodes []node) []string {
	var unused []string
	for i := range nodes {
		if why := nodes[i].info.unusedSlices; why != "" {
			unused = append(unused, nodes[i].name+": "+why)
		}
	}
	return warning("nodes whose ResourceSlices are not used, they do not show each GPU", unused, len(nodes))
}

// estimate returns the islands of a node with the given number of free GPUs. Which GPUs a pod has, only the kubelet knows: pods are
// assumed to have come in the order of their creation, and each to have the GPUs that the device plugin prefers.
func (c *Cache) estimate(info *api.NodeInfo, sizes []int, gpus int) []placement.Island {
	if len(sizes) == 0 {
		return nil
	}
	islands := make([]placement.Island, len(sizes))
	for i, size := range sizes {
		islands[i] = placement.Island{Size: size, Free: size}
	}
	for _, taken := range c.resources.running(info) {
		placement.PickIslands(islands, taken)
	}
	adjustTo(islands, gpus)
	return islands
}

// adjustTo changes islands until the given number of GPUs are free: it takes them as one pod would, or releases them likewise.
func adjustTo(islands []placement.Island, gpus int) {
	missing := gpus
	for _, island := range islands {
		missing -= island.Free
	}
	if missing < 0 {
		placement.PickIslands(islands, -missing)
		return
	}
	used := slices.Clone(islands)
	for i := range used {
		used[i].Free = islands[i].Size - islands[i].Free
	}
	placement.PickIslands(used, missing)
	for i := range used {
		islands[i].Free = islands[i].Size - used[i].Free
	}
}

// running returns how many GPUs each pod on a node holds, in the order in which they were created.
func (r *resourceIndex) running(info *api.NodeInfo) []int {
	tasks := slices.SortedFunc(maps.Values(info.Tasks), func(a, b *api.TaskInfo) int {
		return cmp.Or(a.Pod.CreationTimestamp.Compare(b.Pod.CreationTimestamp.Time), strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	var gpus []int
	for _, task := range tasks {
		if task.Status != api.Pipelined {
			gpus = append(gpus, r.gpus(r.request(task)))
		}
	}
	return gpus
}

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

// productIslands returns the islands of a machine with the given number of GPUs of a product, as the label names it or a driver. It is one
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

// linkAttributes of devices group the GPUs of a node, best first: of one NUMA node, of one PCIe root. The first and last
// are standard attributes; the second one, without a domain, is the driver's own. No driver publishes NVLinks.
var linkAttributes = []resourceapi.QualifiedName{"resource.kubernetes.io/numaNode", "numaNode", "resource.kubernetes.io/pcieRoot"}

const (
	typeAttribute    resourceapi.QualifiedName = "type"
	productAttribute resourceapi.QualifiedName = "productName"
)

// wholeGPUs are the values of the type attribute that mean a whole GPU; others are slices of one, or ways to use it.
var wholeGPUs = []string{"gpu", "amdgpu"}

// published is the ResourceSlices of DRA drivers that are for one node.
type published struct {
	objects sets.Set[*resourceapi.ResourceSlice] // all, to find out whether they are still the same
	byNode  map[string][]*resourceapi.ResourceSlice
}

func readSlices(all []*resourceapi.ResourceSlice) published {
	p := published{objects: sets.New(all...), byNode: map[string][]*resourceapi.ResourceSlice{}}
	for _, slice := range all {
		if slice != nil && slice.Spec.NodeName != nil {
			p.byNode[*slice.Spec.NodeName] = append(p.byNode[*slice.Spec.NodeName], slice)
		}
	}
	return p
}

// same reports whether these are the slices that were read, in any order.
func (p *published) same(all []*resourceapi.ResourceSlice) bool {
	return len(all) == len(p.objects) && p.objects.HasAll(all...)
}

// islands returns the islands of a node with the given number of GPUs of a kind by what its driver publishes; nil if that is not known. It
// is an error if the driver publishes another number of GPUs. product is used where the driver names none.
func (p *published) islands(node, product, kind string, gpus int) ([]int, error) {
	devices := latest(p.byNode[node], driver(kind))
	if len(devices) == 0 {
		return nil, nil
	}
	devices = slices.DeleteFunc(devices, func(d resourceapi.Device) bool {
		of, ok := d.Attributes[typeAttribute]
		return ok && (of.StringValue == nil || !slices.Contains(wholeGPUs, *of.StringValue))
	})
	if len(devices) != gpus {
		return nil, fmt.Errorf("%d of %d GPUs", len(devices), gpus)
	}
	if named := devices[0].Attributes[productAttribute].StringValue; named != nil {
		product = *named
	}
	if len(productIslands(product, 2*socketGPUs)) == 1 { // NVSwitch joins all
		return []int{gpus}, nil
	}
	for _, attribute := range linkAttributes {
		// Where each GPU has a different value, the attribute does not describe links.
		if sizes := grouped(devices, attribute); sizes != nil && len(sizes) < gpus {
			return sizes, nil
		}
	}
	return nil, nil
}

// driver returns the name that a vendor's DRA driver has for a resource of its device plugin: gpu.nvidia.com for
// nvidia.com/gpu.
func driver(kind string) string {
	vendor, device, _ := strings.Cut(kind, "/")
	return device + "." + vendor
}

// latest returns a driver's devices in the newest generation of its pools.
func latest(all []*resourceapi.ResourceSlice, driver string) []resourceapi.Device {
	newest := map[string]int64{}
	for _, slice := range all {
		if slice.Spec.Driver == driver {
			newest[slice.Spec.Pool.Name] = max(newest[slice.Spec.Pool.Name], slice.Spec.Pool.Generation)
		}
	}
	var devices []resourceapi.Device
	for _, slice := range all {
		if slice.Spec.Driver == driver && slice.Spec.Pool.Generation == newest[slice.Spec.Pool.Name] {
			devices = append(devices, slice.Spec.Devices...)
		}
	}
	return devices
}

// grouped returns how many devices have each value of an attribute, in the order of the values; nil if one has none.
func grouped(devices []resourceapi.Device, attribute resourceapi.QualifiedName) []int {
	count := map[string]int{}
	for i := range devices {
		switch value := devices[i].Attributes[attribute]; {
		case value.IntValue != nil:
			count[strconv.FormatInt(*value.IntValue, 10)]++
		case value.StringValue != nil:
			count[*value.StringValue]++
		default:
			return nil
		}
	}
	sizes := make([]int, 0, len(count))
	for _, value := range slices.Sorted(maps.Keys(count)) {
		sizes = append(sizes, count[value])
	}
	return sizes
}
