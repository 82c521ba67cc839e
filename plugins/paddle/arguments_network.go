// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// defaultAccelerators are the whole devices that PaddlePaddle trains on, as their makers' device plugins call them.
var defaultAccelerators = []string{
	"nvidia.com/gpu", "amd.com/gpu", "kunlunxin.com/xpu", "huawei.com/Ascend910", "cambricon.com/mlu", "hygon.com/dcu",
	"iluvatar.com/gpu", "iluvatar.ai/gpu", "metax-tech.com/gpu", "enflame.com/gcu",
}

// hostLabel is different on each node, so it makes no tier above nodes.
const hostLabel = "kubernetes.io/hostname"

// labelKeys reads the keys of the labels that say where a node is, nearest first.
func labelKeys(value any) ([]string, error) {
	keys, err := qualifiedNames(value, "label key")
	switch {
	case err != nil:
		return nil, err
	case len(keys) > maxLabels:
		return nil, fmt.Errorf("%d label keys are more than %d", len(keys), maxLabels)
	case slices.Contains(keys, hostLabel):
		return nil, fmt.Errorf("%s is different on each node; list what lies above nodes, nearest first", hostLabel)
	}
	return keys, nil
}

// prices reads one price for each tier from the node.
func prices(value any) ([]float64, error) {
	return listOf(value, maxLabels+1, price)
}

func price(value any) (float64, error) { return numberIn(value, 0, maxPrice) }

// islandPrice is above 0, which leaves it to package network.
func islandPrice(value any) (float64, error) { return numberIn(value, minPrice, maxPrice) }

// bandwidths reads one bandwidth for each tier from the node, in bytes per second.
func bandwidths(value any) ([]float64, error) {
	return listOf(value, maxLabels+1, bandwidth)
}

var bandwidthForm = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?) ?([MGT])bps$`)

// bandwidth reads one direction of a link, as network cards are sold: 100Gbps is 10^11 bits, or 1.25 * 10^10 bytes, in a
// second. It gives bytes per second.
func bandwidth(value any) (float64, error) {
	text, ok := value.(string)
	parts := bandwidthForm.FindStringSubmatch(strings.TrimSpace(text))
	if !ok || parts == nil {
		return 0, fmt.Errorf("%s is not a bandwidth such as 100Gbps (bits per second, with Mbps, Gbps or Tbps)", shown(value))
	}
	bits, err := strconv.ParseFloat(parts[1], 64)
	if err != nil || bits <= 0 || bits > 1e6 {
		return 0, fmt.Errorf("%q is not more than 0 and at most 1000000%sbps", text, parts[2])
	}
	return bits * map[string]float64{"M": 1e6, "G": 1e9, "T": 1e12}[parts[2]] / 8, nil
}

// accelerators reads names of extended resources.
func accelerators(value any) ([]string, error) {
	names, err := qualifiedNames(value, "resource")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if !strings.Contains(name, "/") {
			return nil, fmt.Errorf("resource %q is no device: the name of one has a domain, as in nvidia.com/gpu", name)
		}
	}
	if len(names) == 0 {
		return nil, errors.New("the list is empty; leave the argument out for the usual names")
	}
	return names, nil
}

// qualifiedNames are keys of labels or names of resources, each once.
func qualifiedNames(value any, what string) ([]string, error) {
	names, err := texts(value)
	if err != nil {
		return nil, err
	}
	for i, name := range names {
		if faults := validation.IsQualifiedName(name); len(faults) > 0 {
			return nil, fmt.Errorf("%q is no %s: %s", name, what, faults[0])
		}
		if slices.Contains(names[:i], name) {
			return nil, fmt.Errorf("%s %q is listed twice", what, name)
		}
	}
	return names, nil
}
