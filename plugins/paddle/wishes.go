// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// wishes are what a job says about its own placement, and the arguments' defaults for what it does not say.
type wishes struct {
	colocation     placement.Colocation
	parameterBytes float64 // 0: costs are in sizes of the model
	groupSize      int     // ranks of one parallel group, 0: no groups
}

// colocations are the values of the annotation and of the argument, in lower case.
var colocations = map[string]placement.Colocation{
	"required": placement.Required, "preferred": placement.Preferred, "none": placement.None,
}

const maxGroupSize = 1 << 16

// newWishes reads the annotations of a PodGroup. Each wrong one is named in the error and left at its default.
func newWishes(annotations map[string]string, a arguments) (wishes, error) {
	w := wishes{colocation: a.colocation, parameterBytes: a.parameterBytes, groupSize: a.groupSize}
	var errs []error
	if text, ok := annotations[colocationAnnotation]; ok {
		colocation, known := colocations[strings.ToLower(text)]
		if known {
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
		if err == nil && size >= 1 && size <= maxGroupSize {
			w.groupSize = size
		} else {
			errs = append(errs, fmt.Errorf("annotation %s is %q; write a number of ranks from 1 to %d", groupSizeAnnotation, text, maxGroupSize))
		}
	}
	return w, errors.Join(errs...)
}
