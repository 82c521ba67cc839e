// SPDX-License-Identifier: Apache-2.0

package config

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// Decode returns the defaults with raw, the arguments of the plugin in volcano-scheduler.conf, over them. Errors begin with
// path, which may be nil. An argument that is unknown, of the wrong type or invalid is in the errors and keeps its default;
// the others apply.
func Decode(raw map[string]any, path *field.Path) (Arguments, field.ErrorList) {
	arguments := Default()
	var errs field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(raw)) {
		decode, known := decoders[name]
		if !known {
			errs = append(errs, field.NotSupported(path.Child(name), name, slices.Sorted(maps.Keys(decoders))))
			continue
		}
		decoded := arguments
		if err := decode(&decoded, raw[name]); err != nil {
			errs = append(errs, field.TypeInvalid(path.Child(name), raw[name], err.Error()))
			continue
		}
		// What was decoded before is valid, so these errors are about this argument.
		if invalid := validate(&decoded, path); len(invalid) > 0 {
			errs = append(errs, invalid...)
			continue
		}
		arguments = decoded
	}
	return arguments, errs
}

// decoders set one argument each.
var decoders = map[string]func(a *Arguments, value any) error{
	"server-tasks": func(a *Arguments, value any) error {
		return addTasks(&a.ServerTasks, value, a.WorkerTasks, a.HeterTasks)
	},
	"worker-tasks": func(a *Arguments, value any) error {
		return addTasks(&a.WorkerTasks, value, a.ServerTasks, a.HeterTasks)
	},
	"heter-tasks": func(a *Arguments, value any) error {
		return addTasks(&a.HeterTasks, value, a.ServerTasks, a.WorkerTasks)
	},
	"topology-labels":   func(a *Arguments, value any) error { return set(&a.TopologyLabels, value, list(text)) },
	"tier-weights":      func(a *Arguments, value any) error { return set(&a.TierWeights, value, list(number)) },
	"intra-node-weight": func(a *Arguments, value any) error { return set(&a.IntraNodeWeight, value, number) },
	"tier-bandwidths":   func(a *Arguments, value any) error { return set(&a.TierBandwidths, value, list(bandwidth)) },
	"accelerators":      func(a *Arguments, value any) error { return set(&a.Accelerators, value, list(text)) },
	"objective": func(a *Arguments, value any) error {
		return set(&a.Objective, value, oneOf(map[string]placement.Objective{
			"bytes": placement.BytesFirst, "max-link-load": placement.BusiestFirst,
		}))
	},
	"search-budget":             func(a *Arguments, value any) error { return set(&a.SearchBudget, value, integer) },
	"planning-seconds":          func(a *Arguments, value any) error { return set(&a.PlanningSeconds, value, number) },
	"restart-tolerance-percent": func(a *Arguments, value any) error { return set(&a.RestartTolerancePercent, value, number) },
	"weight":                    func(a *Arguments, value any) error { return set(&a.Weight, value, number) },
	"colocation": func(a *Arguments, value any) error {
		return set(&a.Colocation, value, oneOf(colocations))
	},
	"colocation-tier":     func(a *Arguments, value any) error { return set(&a.ColocationTier, value, integer) },
	"parameter-size":      func(a *Arguments, value any) error { return set(&a.ParameterBytes, value, byteCount) },
	"parallel-group-size": func(a *Arguments, value any) error { return set(&a.ParallelGroupSize, value, integer) },
}

// set stores the parsed value.
func set[T any](field *T, value any, parse func(any) (T, error)) error {
	parsed, err := parse(value)
	if err != nil {
		return err
	}
	*field = parsed
	return nil
}

// addTasks adds names of tasks to those of a role. Names of the other roles are an error.
func addTasks(tasks *[]string, value any, others ...[]string) error {
	names, err := list(text)(value)
	if err != nil {
		return err
	}
	added := slices.Clone(*tasks)
	for _, name := range names {
		if slices.Contains(slices.Concat(others...), name) {
			return fmt.Errorf("task %q has another role", name)
		}
		if !slices.Contains(added, name) {
			added = append(added, name)
		}
	}
	*tasks = added
	return nil
}
