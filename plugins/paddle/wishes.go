// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	k8sutil "k8s.io/kubernetes/pkg/scheduler/util"
	"volcano.sh/volcano/pkg/scheduler/api"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/config"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// wishes are what a job says about its own placement, and the arguments' defaults for what it does not say.
type wishes struct {
	colocation     placement.Colocation
	parameterBytes float64 // 0: costs are in sizes of the model
	groupSize      int     // ranks of one parallel group, 0: no groups
	// least must be free before the job is let in, nil: no more than its minimum asks for.
	least *api.Resource
}

// newWishes reads the annotations of a PodGroup. Each wrong one is named in the error and left at its default.
func newWishes(annotations map[string]string, a arguments) (wishes, error) {
	w := wishes{colocation: a.Colocation, parameterBytes: a.ParameterBytes, groupSize: a.ParallelGroupSize}
	var errs []error
	if text, ok := annotations[colocationAnnotation]; ok {
		colocation, err := config.ParseColocation(text)
		if err == nil {
			w.colocation = colocation
		} else {
			errs = append(errs, fmt.Errorf("annotation %s is %q; write Required, Preferred or None", colocationAnnotation, text))
		}
	}
	if text, ok := annotations[parameterSizeAnnotation]; ok {
		quantity, err := resource.ParseQuantity(text)
		if err == nil && quantity.Sign() > 0 {
			w.parameterBytes = quantity.AsApproximateFloat64()
		} else {
			errs = append(errs, fmt.Errorf("annotation %s is %q; write an amount of bytes above 0, such as 2Gi", parameterSizeAnnotation, text))
		}
	}
	if text, ok := annotations[groupSizeAnnotation]; ok {
		size, err := strconv.Atoi(text)
		if err == nil && size >= 1 && size <= config.MaxParallelGroupSize {
			w.groupSize = size
		} else {
			errs = append(errs, fmt.Errorf("annotation %s is %q; write a number of ranks from 1 to %d", groupSizeAnnotation, text, config.MaxParallelGroupSize))
		}
	}
	if text, ok := annotations[minResourcesAnnotation]; ok {
		least, err := amountsIn(text)
		if err == nil {
			w.least = least
		} else {
			errs = append(errs, fmt.Errorf("annotation %s is %q: %w; write amounts such as cpu=4,memory=8Gi", minResourcesAnnotation, text, err))
		}
	}
	return w, errors.Join(errs...)
}

// mostOfAnything keeps amounts within what Volcano's numbers, in thousandths, hold.
var mostOfAnything = resource.MustParse("1Pi")

// amountsIn reads amounts of resources such as cpu=4,memory=8Gi.
func amountsIn(text string) (*api.Resource, error) {
	list := corev1.ResourceList{}
	for part := range strings.SplitSeq(text, ",") {
		name, amount, _ := strings.Cut(part, "=")
		key := corev1.ResourceName(strings.TrimSpace(name))
		quantity, err := resource.ParseQuantity(strings.TrimSpace(amount))
		switch _, twice := list[key]; {
		case err != nil || quantity.Sign() < 0 || quantity.Cmp(mostOfAnything) > 0:
			return nil, fmt.Errorf("%q is no amount of a resource", part)
		case twice:
			return nil, fmt.Errorf("%s is there twice", key)
		case !onNodes(key):
			return nil, fmt.Errorf("no node has %s", key)
		}
		list[key] = quantity
	}
	return api.NewResource(list), nil
}

// onNodes tells whether a resource is one that Volcano counts on nodes.
func onNodes(name corev1.ResourceName) bool {
	switch name {
	case corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage, corev1.ResourcePods:
		return true
	}
	return k8sutil.IsScalarResourceName(name)
}
