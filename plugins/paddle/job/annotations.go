// SPDX-License-Identifier: Apache-2.0

package job

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

// Spec is what the annotations of a job request for its placement.
type Spec struct {
	Colocation placement.Colocation
	// ParameterBytes is the size of the model's parameters; 0 means unknown.
	ParameterBytes float64
	// ParallelGroupSize is the number of ranks in a parallel group; 0 means no groups.
	ParallelGroupSize int
	// MinResources must be free before the job is admitted; nil means what its minimum requests.
	MinResources *api.Resource
	// Parallelism has the degrees of hybrid parallelism; without any ParallelGroupSize counts.
	Parallelism placement.Parallelism
}

// DefaultSpec returns what the plugin's arguments say for jobs without annotations.
func DefaultSpec(a *config.Arguments) Spec {
	return Spec{Colocation: a.Colocation, ParameterBytes: a.ParameterBytes, ParallelGroupSize: a.ParallelGroupSize}
}

// ParseSpec returns what the annotations of a PodGroup say, and the defaults for the rest. Each invalid annotation is in
// the error and leaves its default.
func ParseSpec(annotations map[string]string, defaults Spec) (Spec, error) {
	s := defaults
	var errs []error
	if text, ok := annotations[ColocationAnnotation]; ok {
		if colocation, err := config.ParseColocation(text); err == nil {
			s.Colocation = colocation
		} else {
			errs = append(errs, fmt.Errorf("annotation %s is %q; write Required, Preferred or None", ColocationAnnotation, text))
		}
	}
	if text, ok := annotations[ParameterSizeAnnotation]; ok {
		if quantity, err := resource.ParseQuantity(text); err == nil && quantity.Sign() > 0 {
			s.ParameterBytes = quantity.AsApproximateFloat64()
		} else {
			errs = append(errs, fmt.Errorf("annotation %s is %q; write an amount of bytes above 0, such as 2Gi", ParameterSizeAnnotation, text))
		}
	}
	if text, ok := annotations[GroupSizeAnnotation]; ok {
		if size, err := strconv.Atoi(text); err == nil && size >= 1 && size <= config.MaxParallelGroupSize {
			s.ParallelGroupSize = size
		} else {
			errs = append(errs, fmt.Errorf("annotation %s is %q; write a number of ranks from 1 to %d", GroupSizeAnnotation, text, config.MaxParallelGroupSize))
		}
	}
	if text, ok := annotations[ParallelismAnnotation]; ok {
		if parallelism, err := degreesIn(text); err == nil {
			s.Parallelism = parallelism
		} else {
			errs = append(errs, fmt.Errorf("annotation %s is %q: %w; write degrees such as data=2,pipeline=4,tensor=8", ParallelismAnnotation, text, err))
		}
	}
	if text, ok := annotations[MinResourcesAnnotation]; ok {
		if amounts, err := amountsIn(text); err == nil {
			s.MinResources = amounts
		} else {
			errs = append(errs, fmt.Errorf("annotation %s is %q: %w; write amounts such as cpu=4,memory=8Gi", MinResourcesAnnotation, text, err))
		}
	}
	return s, errors.Join(errs...)
}

// shardingFirst is the order of ranks that may follow the degrees.
const shardingFirst = "order=ShardingFirst"

// degreesIn reads degrees of parallelism such as data=2,pipeline=4,tensor=8. That of data parallelism is what the others leave.
func degreesIn(text string) (placement.Parallelism, error) {
	var p placement.Parallelism
	data := 0
	axes := map[string]*int{"data": &data, "pipeline": &p.Pipeline, "sharding": &p.Sharding, "sep": &p.Sep, "tensor": &p.Tensor, "expert": &p.Expert}
	text, p.ShardingFirst = strings.CutSuffix(text, ","+shardingFirst)
	for part := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(part, "=")
		axis := axes[strings.TrimSpace(name)]
		degree, err := strconv.Atoi(strings.TrimSpace(value))
		if axis == nil || err != nil || *axis != 0 || degree < 1 || degree > config.MaxParallelGroupSize {
			return placement.Parallelism{}, fmt.Errorf("invalid degree %q", part)
		}
		*axis = degree
	}
	return p, nil
}

// maxQuantity keeps amounts within what Volcano's numbers, in thousandths, hold.
var maxQuantity = resource.MustParse("1Pi")

func amountsIn(text string) (*api.Resource, error) {
	list := corev1.ResourceList{}
	for part := range strings.SplitSeq(text, ",") {
		name, amount, _ := strings.Cut(part, "=")
		key := corev1.ResourceName(strings.TrimSpace(name))
		quantity, err := resource.ParseQuantity(strings.TrimSpace(amount))
		switch _, twice := list[key]; {
		case err != nil || quantity.Sign() < 0 || quantity.Cmp(maxQuantity) > 0:
			return nil, fmt.Errorf("invalid quantity %q", part)
		case twice:
			return nil, fmt.Errorf("duplicate resource %q", key)
		case !onNodes(key):
			return nil, fmt.Errorf("unsupported resource %q", key)
		}
		list[key] = quantity
	}
	return api.NewResource(list), nil
}

// onNodes reports whether a resource is one that Volcano counts on nodes.
func onNodes(name corev1.ResourceName) bool {
	switch name {
	case corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage, corev1.ResourcePods:
		return true
	}
	return k8sutil.IsScalarResourceName(name)
}
