// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	resourceapi "k8s.io/api/resource/v1"
)

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
	objects map[*resourceapi.ResourceSlice]struct{} // all, to find out whether they are still the same
	byNode  map[string][]*resourceapi.ResourceSlice
}

func readSlices(all []*resourceapi.ResourceSlice) published {
	p := published{objects: make(map[*resourceapi.ResourceSlice]struct{}, len(all)), byNode: map[string][]*resourceapi.ResourceSlice{}}
	for _, slice := range all {
		p.objects[slice] = struct{}{}
		if slice != nil && slice.Spec.NodeName != nil {
			p.byNode[*slice.Spec.NodeName] = append(p.byNode[*slice.Spec.NodeName], slice)
		}
	}
	return p
}

// same reports whether these are the slices that were read, in any order.
func (p *published) same(all []*resourceapi.ResourceSlice) bool {
	if len(all) != len(p.objects) {
		return false
	}
	for _, slice := range all {
		if _, ok := p.objects[slice]; !ok {
			return false
		}
	}
	return true
}

// islands returns the islands of a node with so many GPUs of a kind by what its driver publishes; nil if that is not known. It
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
	if isSwitched(product) {
		return []int{gpus}, nil
	}
	for _, attribute := range linkAttributes {
		// Where each GPU has a value of its own, the attribute does not describe links.
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
	var values []string
	for i := range devices {
		value, ok := scalar(devices[i].Attributes[attribute])
		if !ok {
			return nil
		}
		if count[value]++; count[value] == 1 {
			values = append(values, value)
		}
	}
	slices.Sort(values)
	sizes := make([]int, len(values))
	for i, value := range values {
		sizes[i] = count[value]
	}
	return sizes
}

func scalar(value resourceapi.DeviceAttribute) (string, bool) {
	switch {
	case value.IntValue != nil:
		return strconv.FormatInt(*value.IntValue, 10), true
	case value.StringValue != nil:
		return *value.StringValue, true
	default:
		return "", false
	}
}
