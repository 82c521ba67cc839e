// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// machine returns a cluster of one node with 8 GPUs of a product.
func machine(product string) *cluster {
	c := newCluster()
	c.node("n1", map[string]string{gpu: "8"}, map[string]string{productLabel: product})
	return c
}

// publish lets a driver show devices of node n1: each a map of attributes, with numbers as integers.
func (c *cluster) publish(driver, pool string, generation int64, devices ...map[string]string) *resourceapi.ResourceSlice {
	node := "n1"
	slice := &resourceapi.ResourceSlice{
		ObjectMeta: metav1.ObjectMeta{Name: driver + "-" + pool + "-" + strconv.Itoa(len(c.slices))},
		Spec:       resourceapi.ResourceSliceSpec{Driver: driver, NodeName: &node, Pool: resourceapi.ResourcePool{Name: pool, Generation: generation}},
	}
	for i, attributes := range devices {
		device := resourceapi.Device{Name: "gpu-" + strconv.Itoa(i), Attributes: map[resourceapi.QualifiedName]resourceapi.DeviceAttribute{}}
		for key, value := range attributes {
			attribute := resourceapi.DeviceAttribute{StringValue: &value}
			if number, err := strconv.ParseInt(value, 10, 64); err == nil {
				attribute = resourceapi.DeviceAttribute{IntValue: &number}
			}
			device.Attributes[resourceapi.QualifiedName(key)] = attribute
		}
		slice.Spec.Devices = append(slice.Spec.Devices, device)
	}
	c.slices = append(c.slices, slice)
	return slice
}

// gpus returns devices whose attribute has the values given, one device for each.
func gpus(attribute string, values ...string) []map[string]string {
	var devices []map[string]string
	for _, value := range values {
		devices = append(devices, map[string]string{"type": "gpu", attribute: value})
	}
	return devices
}

const (
	numa     = "resource.kubernetes.io/numaNode"
	pcieRoot = "resource.kubernetes.io/pcieRoot"
	nvidia   = "gpu.nvidia.com"
)

var threeAndFive = []string{"0", "0", "0", "1", "1", "1", "1", "1"}

func TestIslands_Sources(t *testing.T) {
	for _, test := range []struct {
		name    string
		cluster func() *cluster
		want    []int
		warning string
	}{
		{"nothing is known", func() *cluster { return machine("") }, nil, ""},
		{"PCIe cards", func() *cluster { return machine("NVIDIA-L40S") }, []int{4, 4}, ""},
		{"NVSwitch", func() *cluster { return machine("NVIDIA-H20") }, nil, ""},
		{"what is published goes before the product", func() *cluster {
			c := machine("NVIDIA-L40S")
			c.publish(nvidia, "n1", 1, gpus(numa, threeAndFive...)...)
			return c
		}, []int{3, 5}, ""},
		{"a driver's own NUMA node", func() *cluster {
			c := machine("")
			c.publish(nvidia, "n1", 1, gpus("numaNode", threeAndFive...)...)
			return c
		}, []int{3, 5}, ""},
		{"PCIe roots", func() *cluster {
			c := machine("")
			c.publish(nvidia, "n1", 1, gpus(pcieRoot, "pci0000:1a", "pci0000:1a", "pci0000:1a", "pci0000:1a", "pci0000:1a", "pci0000:9d", "pci0000:9d", "pci0000:9d")...)
			return c
		}, []int{5, 3}, ""},
		{"a PCIe root of each GPU describes no links", func() *cluster {
			c := machine("NVIDIA-L40S")
			c.publish(nvidia, "n1", 1, gpus(pcieRoot, "a", "b", "c", "d", "e", "f", "g", "h")...)
			return c
		}, []int{4, 4}, ""},
		{"one NUMA node is one island, of any product", func() *cluster {
			c := machine("NVIDIA-L40S")
			c.publish(nvidia, "n1", 1, gpus(numa, "0", "0", "0", "0", "0", "0", "0", "0")...)
			return c
		}, nil, ""},
		{"an attribute that a GPU lacks is not used", func() *cluster {
			c := machine("NVIDIA-L40S")
			devices := gpus(numa, threeAndFive...)
			delete(devices[2], numa)
			c.publish(nvidia, "n1", 1, devices...)
			return c
		}, []int{4, 4}, ""},
		{"NVSwitch across NUMA nodes, by the driver", func() *cluster {
			c := machine("")
			devices := gpus(numa, threeAndFive...)
			devices[0]["productName"] = "NVIDIA H100 80GB HBM3"
			c.publish(nvidia, "n1", 1, devices...)
			return c
		}, nil, ""},
		{"NVSwitch across NUMA nodes, by the label", func() *cluster {
			c := machine("NVIDIA-H100-80GB-HBM3")
			c.publish(nvidia, "n1", 1, gpus(numa, threeAndFive...)...)
			return c
		}, nil, ""},
		{"slices of GPUs and other uses of them do not count", func() *cluster {
			c := machine("")
			devices := append(gpus(numa, threeAndFive...), map[string]string{"type": "mig"}, map[string]string{"type": "vfio"}, map[string]string{"type": "7"})
			c.publish(nvidia, "n1", 1, devices...)
			return c
		}, []int{3, 5}, ""},
		{"too few GPUs are published", func() *cluster {
			c := machine("NVIDIA-L40S")
			c.publish(nvidia, "n1", 1, gpus(numa, threeAndFive...)[1:]...)
			return c
		}, []int{4, 4}, "nodes whose ResourceSlices are not used, they do not show each GPU: 1 of 1 (n1: 7 of 8 GPUs)"},
		{"several pools and slices, the newest generation of each", func() *cluster {
			c := machine("")
			devices := gpus(numa, threeAndFive...)
			c.publish(nvidia, "a", 7, devices[:2]...)
			c.publish(nvidia, "a", 8, devices[2:4]...)
			c.publish(nvidia, "a", 8, devices[4:5]...)
			c.publish(nvidia, "b", 1, gpus(numa, "0", "0", "1", "1", "1")...)
			return c
		}, []int{3, 5}, ""},
		{"other drivers do not count", func() *cluster {
			c := machine("NVIDIA-L40S")
			c.publish("dra.net", "n1", 1, gpus(numa, threeAndFive...)...)
			c.publish("compute-domain.nvidia.com", "n1", 1, gpus(numa, threeAndFive...)...)
			return c
		}, []int{4, 4}, ""},
		{"slices of no node or another one do not count", func() *cluster {
			c := machine("NVIDIA-L40S")
			other := "n2"
			c.publish(nvidia, "n2", 1, gpus(numa, threeAndFive...)...).Spec.NodeName = &other
			c.publish(nvidia, "n3", 1, gpus(numa, threeAndFive...)...).Spec.NodeName = nil
			c.slices = append(c.slices, nil)
			return c
		}, []int{4, 4}, ""},
		{"accelerators of another kind, by their driver", func() *cluster {
			c := newCluster()
			c.node("n1", map[string]string{"kunlunxin.com/xpu": "8"}, nil)
			c.node("n0", map[string]string{gpu: "8"}, nil)
			devices := gpus(numa, threeAndFive...)
			for _, device := range devices {
				delete(device, "type")
			}
			c.publish("xpu.kunlunxin.com", "n1", 1, devices...)
			return c
		}, []int{3, 5}, ""},
		{"two kinds of accelerators: links are not known", func() *cluster {
			c := machine("NVIDIA-L40S")
			c.node("n1", map[string]string{gpu: "8", "kunlunxin.com/xpu": "8"}, map[string]string{productLabel: "NVIDIA-L40S"})
			return c
		}, nil, ""},
		{"one GPU", func() *cluster {
			c := newCluster()
			c.node("n1", map[string]string{gpu: "1"}, map[string]string{productLabel: "NVIDIA-L40S"})
			return c
		}, nil, ""},
		{"two GPUs", func() *cluster {
			c := newCluster()
			c.node("n1", map[string]string{gpu: "2"}, nil)
			c.publish(nvidia, "n1", 1, gpus(numa, "0", "1")...)
			return c
		}, nil, ""},
		{"more islands than the limit", func() *cluster {
			c := newCluster()
			c.node("n1", map[string]string{gpu: "130"}, nil)
			var values []string
			for i := range 130 {
				values = append(values, strconv.Itoa(i/2))
			}
			c.publish(nvidia, "n1", 1, gpus(numa, values...)...)
			return c
		}, nil, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := test.cluster()
			n := c.built(t, withGPUs())
			require.Equal(t, test.want, freeIslands(t, n, "n1"))
			if test.warning == "" {
				require.Empty(t, n.warnings)
			} else {
				require.Equal(t, []string{test.warning}, n.warnings)
			}
			require.False(t, c.sync(t, n))
		})
	}
}

func TestIslands_AtTheLimit(t *testing.T) {
	c := newCluster()
	c.node("n1", map[string]string{gpu: "128"}, nil)
	var values []string
	for i := range 128 {
		values = append(values, strconv.Itoa(i/2))
	}
	c.publish(nvidia, "n1", 1, gpus(numa, values...)...)
	require.Len(t, freeIslands(t, c.built(t, withGPUs()), "n1"), 64)
}

func TestIslands_GPULimit(t *testing.T) {
	c := newCluster()
	c.node("n1", map[string]string{gpu: "100000"}, map[string]string{productLabel: "NVIDIA-L40S"})
	n := c.built(t, withGPUs())
	require.Empty(t, n.warnings)
	require.Equal(t, []int{16384, 16383}, freeIslands(t, n, "n1"))
}

func TestIslands_UnhealthyGPUs(t *testing.T) {
	c := machine("NVIDIA-L40S")
	object := c.nodes["n1"].DeepCopy()
	object.Status.Allocatable = object.Status.Allocatable.DeepCopy()
	object.Status.Allocatable[gpu] = resource.MustParse("7")
	n := c.built(t, withGPUs())
	c.nodes["n1"] = object
	require.False(t, c.sync(t, n), "the same islands")
	require.EqualValues(t, 7, freeOf(t, n, "n1")[gpu])
	require.Equal(t, 7, freeGPUs(n.Topology().Islands(0)))
}

func TestIslands_MoreIdleGPUsThanGPUs(t *testing.T) {
	c := machine("NVIDIA-L40S")
	v := c.session()
	v.Nodes["n1"].Idle.ScalarResources[gpu] = 11000
	n := New(withGPUs())
	_, err := n.Sync(v)
	require.NoError(t, err)
	require.Equal(t, []int{4, 4}, freeIslands(t, n, "n1"))
	require.EqualValues(t, 8, freeOf(t, n, "n1")[gpu])
}

func TestIslands_ResourceSlicesChange(t *testing.T) {
	c := machine("NVIDIA-L40S")
	n := c.built(t, withGPUs())
	c.publish(nvidia, "n1", 1, gpus(numa, threeAndFive...)...)
	require.True(t, c.sync(t, n))
	require.Equal(t, []int{3, 5}, freeIslands(t, n, "n1"))
	c.slices[0] = c.slices[0].DeepCopy()
	require.False(t, c.sync(t, n), "another object that says the same")
	five := c.slices[0]
	c.slices = nil
	c.publish(nvidia, "n1", 1, gpus(numa, "0", "1", "1", "1", "1", "1", "1", "1")...)
	require.True(t, c.sync(t, n), "as many slices, but others")
	require.Equal(t, []int{1, 7}, freeIslands(t, n, "n1"))
	c.slices = []*resourceapi.ResourceSlice{five}
	require.True(t, c.sync(t, n))
	c.publish("dra.net", "n1", 1)
	require.False(t, c.sync(t, n), "one more slice that says nothing of GPUs")
	c.slices[0], c.slices[1] = c.slices[1], c.slices[0]
	require.False(t, c.sync(t, n), "another order")
	c.slices = c.slices[:1]
	require.True(t, c.sync(t, n))
	require.Equal(t, []int{4, 4}, freeIslands(t, n, "n1"))
}
