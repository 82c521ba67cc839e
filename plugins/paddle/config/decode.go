// SPDX-License-Identifier: Apache-2.0

package config

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
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

// colocations are the values of the argument and of the annotation.
var colocations = map[string]placement.Colocation{
	"Required": placement.Required, "Preferred": placement.Preferred, "None": placement.None,
}

// ParseColocation returns the colocation that a word means, in any case.
func ParseColocation(word string) (placement.Colocation, error) { return oneOf(colocations)(word) }

func text(value any) (string, error) {
	parsed, ok := value.(string)
	if !ok || strings.TrimSpace(parsed) == "" {
		return "", errors.New("must be a string that is not empty")
	}
	return strings.TrimSpace(parsed), nil
}

// number parses a number, or a string that is one: all arguments of Volcano once were strings.
func number(value any) (float64, error) {
	switch value := value.(type) {
	case int:
		return float64(value), nil
	case int64:
		return float64(value), nil
	case uint64:
		return float64(value), nil
	case float64:
		return value, nil
	case string:
		if parsed, err := strconv.ParseFloat(strings.TrimSpace(value), 64); err == nil {
			return parsed, nil
		}
	}
	return 0, errors.New("must be a number")
}

func integer(value any) (int, error) {
	parsed, err := number(value)
	if err != nil || parsed != math.Trunc(parsed) || math.Abs(parsed) > 1<<53 {
		return 0, errors.New("must be an integer")
	}
	return int(parsed), nil
}

// list parses a list, a string with commas between the elements, or a single element.
func list[T any](parse func(any) (T, error)) func(any) ([]T, error) {
	return func(value any) ([]T, error) {
		elements, ok := value.([]any)
		if joined, isString := value.(string); isString {
			for element := range strings.SplitSeq(joined, ",") {
				elements = append(elements, element)
			}
		} else if !ok {
			elements = []any{value}
		}
		parsed := make([]T, 0, len(elements))
		for i, element := range elements {
			one, err := parse(element)
			if err != nil {
				return nil, fmt.Errorf("element %d %w", i, err)
			}
			parsed = append(parsed, one)
		}
		return parsed, nil
	}
}

// oneOf parses a word, in any case.
func oneOf[T any](words map[string]T) func(any) (T, error) {
	return func(value any) (T, error) {
		given, _ := value.(string)
		for word, meaning := range words {
			if strings.EqualFold(word, strings.TrimSpace(given)) {
				return meaning, nil
			}
		}
		var none T
		return none, fmt.Errorf("must be one of %s", strings.Join(slices.Sorted(maps.Keys(words)), ", "))
	}
}

var bandwidthForm = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?) ?([MGT])bps$`)

// bandwidth parses bits per second, as network cards are sold, and returns bytes per second: 100Gbps is 1.25e10.
func bandwidth(value any) (float64, error) {
	given, _ := value.(string)
	parts := bandwidthForm.FindStringSubmatch(strings.TrimSpace(given))
	if parts == nil {
		return 0, errors.New("must be bits per second with Mbps, Gbps or Tbps, such as 100Gbps")
	}
	bits, err := strconv.ParseFloat(parts[1], 64)
	if err != nil {
		return 0, fmt.Errorf("must be a bandwidth: %w", err)
	}
	return bits * map[string]float64{"M": 1e6, "G": 1e9, "T": 1e12}[parts[2]] / 8, nil
}

// byteCount parses a quantity of bytes: 2Gi, 500M, 1e9.
func byteCount(value any) (float64, error) {
	if parsed, err := number(value); err == nil {
		value = strconv.FormatFloat(parsed, 'f', -1, 64)
	}
	given, _ := value.(string)
	quantity, err := resource.ParseQuantity(strings.TrimSpace(given))
	if err != nil {
		return 0, errors.New("must be a quantity of bytes such as 2Gi")
	}
	return quantity.AsApproximateFloat64(), nil
}
