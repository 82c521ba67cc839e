// SPDX-License-Identifier: Apache-2.0

package config

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Bounds of arguments. Those of tiers are the planner's.
const (
	maxLabels                  = 13      // of the planner's 16 tiers, GPU islands, nodes and NVLink domains are three
	maxTierWeight              = 1 << 14 // of a byte, relative to other tiers
	minIntraNodeWeight         = 1e-3    // the least that the planner distinguishes from 0
	maxBandwidth               = 1e18    // bytes per second
	maxSearchBudget            = 1000
	minPlanningSeconds         = 0.1
	maxPlanningSeconds         = 3600
	maxRestartTolerancePercent = 1000
	maxWeight                  = 1000
	maxParameterBytes          = 1 << 50
	// MaxParallelGroupSize bounds the ranks of a parallel group.
	MaxParallelGroupSize = 1 << 16
)

func validate(a *Arguments, path *field.Path) field.ErrorList {
	errs := validateLabels(a.TopologyLabels, path.Child("topology-labels"))
	errs = append(errs, validateTiers(a, path)...)
	errs = append(errs, validateAccelerators(a.Accelerators, path.Child("accelerators"))...)
	errs = append(errs, between(float64(a.SearchBudget), 1, maxSearchBudget, path.Child("search-budget"))...)
	errs = append(errs, between(a.PlanningSeconds, minPlanningSeconds, maxPlanningSeconds, path.Child("planning-seconds"))...)
	errs = append(errs, between(a.RestartTolerancePercent, 0, maxRestartTolerancePercent, path.Child("restart-tolerance-percent"))...)
	errs = append(errs, between(a.Weight, 0, maxWeight, path.Child("weight"))...)
	errs = append(errs, between(float64(a.ColocationTier), 0, maxLabels, path.Child("colocation-tier"))...)
	errs = append(errs, between(float64(a.ParallelGroupSize), 0, MaxParallelGroupSize, path.Child("parallel-group-size"))...)
	if a.ParameterBytes != 0 {
		errs = append(errs, between(a.ParameterBytes, 1, maxParameterBytes, path.Child("parameter-size"))...)
	}
	return errs
}

func validateLabels(keys []string, path *field.Path) field.ErrorList {
	errs := validateNames(keys, path)
	if len(keys) > maxLabels {
		errs = append(errs, field.TooMany(path, len(keys), maxLabels))
	}
	for i, key := range keys {
		if key == corev1.LabelHostname {
			errs = append(errs, field.Invalid(path.Index(i), key, "differs on each node; list what is above nodes, nearest first"))
		}
	}
	return errs
}

func validateTiers(a *Arguments, path *field.Path) field.ErrorList {
	weights, bandwidths := path.Child("tier-weights"), path.Child("tier-bandwidths")
	errs := between(a.IntraNodeWeight, minIntraNodeWeight, maxTierWeight, path.Child("intra-node-weight"))
	if len(a.TierWeights) > maxLabels+1 {
		errs = append(errs, field.TooMany(weights, len(a.TierWeights), maxLabels+1))
	}
	for i, weight := range a.TierWeights {
		errs = append(errs, between(weight, 0, maxTierWeight, weights.Index(i))...)
	}
	if len(a.TierBandwidths) > maxLabels+1 {
		errs = append(errs, field.TooMany(bandwidths, len(a.TierBandwidths), maxLabels+1))
	}
	for i, bandwidth := range a.TierBandwidths {
		if !(bandwidth > 0 && bandwidth <= maxBandwidth) {
			errs = append(errs, field.Invalid(bandwidths.Index(i), bandwidth, "must be more than 0 and at most 8000000Tbps"))
		}
	}
	return errs
}

func validateAccelerators(names []string, path *field.Path) field.ErrorList {
	errs := validateNames(names, path)
	if len(names) == 0 {
		errs = append(errs, field.Required(path, "leave the argument out for the default resources"))
	}
	for i, name := range names {
		if !strings.Contains(name, "/") {
			errs = append(errs, field.Invalid(path.Index(i), name, "must be an extended resource, such as nvidia.com/gpu"))
		}
	}
	return errs
}

// validateNames is for keys of labels and names of resources.
func validateNames(names []string, path *field.Path) (errs field.ErrorList) {
	seen := map[string]bool{}
	for i, name := range names {
		for _, message := range validation.IsQualifiedName(name) {
			errs = append(errs, field.Invalid(path.Index(i), name, message))
		}
		if seen[name] {
			errs = append(errs, field.Duplicate(path.Index(i), name))
		}
		seen[name] = true
	}
	return errs
}

// between reports a value outside of bounds; NaN is outside of all.
func between(value, low, high float64, path *field.Path) field.ErrorList {
	if value >= low && value <= high {
		return nil
	}
	return field.ErrorList{field.Invalid(path, value, fmt.Sprintf("must be between %v and %v, inclusive", low, high))}
}
