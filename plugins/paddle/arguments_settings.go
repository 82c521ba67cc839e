// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// Bounds of arguments; those of the network's tiers are the planner's own.
const (
	maxLabels         = 13      // the planner knows 16 tiers; islands, nodes and NVLink domains are three of them
	maxPrice          = 1 << 14 // of a byte, relative to other tiers
	minPrice          = 1e-3    // the least that the planner tells from 0
	maxEffort         = 1000
	maxColocationTier = maxLabels
	maxParameterBytes = 1 << 50
	maxGroup          = 1 << 16
	maxScoreWeight    = 1000
	maxKeepPercent    = 1000
	minPlanning       = 0.1 // seconds
	maxPlanning       = 3600
)

// settings set one argument each, or leave all as they are and say what is wrong.
var settings = map[string]func(value any, into *arguments) error{
	argServerTasks: setTaskNames(roleServer),
	argWorkerTasks: setTaskNames(roleWorker),
	argHeterTasks:  setTaskNames(roleHeter),
	argLabels:      func(value any, into *arguments) error { return set(&into.network.Labels, value, labelKeys) },
	argPrices:      func(value any, into *arguments) error { return set(&into.network.Prices, value, prices) },
	argIslandPrice: func(value any, into *arguments) error { return set(&into.network.IslandPrice, value, islandPrice) },
	argBandwidths:  func(value any, into *arguments) error { return set(&into.network.Bandwidths, value, bandwidths) },
	argAccelerators: func(value any, into *arguments) error {
		return set(&into.network.Accelerators, value, accelerators)
	},
	argObjective: func(value any, into *arguments) error {
		return set(&into.objective, value, oneOf(map[string]placement.Objective{
			"bytes": placement.BytesFirst, "busiest": placement.BusiestFirst,
		}))
	},
	argEffort: func(value any, into *arguments) error {
		return set(&into.effort, value, func(value any) (int, error) { return wholeIn(value, 1, maxEffort) })
	},
	argColocation: func(value any, into *arguments) error {
		return set(&into.colocation, value, oneOf(map[string]placement.Colocation{
			"Preferred": placement.Preferred, "Required": placement.Required, "None": placement.None,
		}))
	},
	argColocationTier: func(value any, into *arguments) error {
		return set(&into.colocationTier, value, func(value any) (int, error) { return wholeIn(value, 0, maxColocationTier) })
	},
	argParameterSize: func(value any, into *arguments) error {
		return set(&into.parameterBytes, value, parameterBytes)
	},
	argGroupSize: func(value any, into *arguments) error {
		return set(&into.groupSize, value, func(value any) (int, error) { return wholeIn(value, 0, maxGroup) })
	},
	argWeight: func(value any, into *arguments) error {
		return set(&into.weight, value, func(value any) (float64, error) { return numberIn(value, 0, maxScoreWeight) })
	},
	argKeepPlace: func(value any, into *arguments) error {
		return set(&into.keepPlace, value, func(value any) (float64, error) {
			percent, err := numberIn(value, 0, maxKeepPercent)
			return percent / 100, err
		})
	},
	argPlanning: func(value any, into *arguments) error {
		return set(&into.planning, value, func(value any) (time.Duration, error) {
			seconds, err := numberIn(value, minPlanning, maxPlanning)
			return time.Duration(seconds * float64(time.Second)), err
		})
	},
}

// set stores what read makes of the value, unless it refuses it.
func set[T any](into *T, value any, read func(any) (T, error)) error {
	found, err := read(value)
	if err == nil {
		*into = found
	}
	return err
}

// setTaskNames gives a role more task names and refuses those that mean another role already.
func setTaskNames(wanted role) func(any, *arguments) error {
	return func(value any, into *arguments) error {
		names, err := texts(value)
		if err != nil {
			return err
		}
		for _, name := range names {
			if other, ok := into.taskRoles[name]; ok && other != wanted {
				return fmt.Errorf("task name %q means %s already", name, other)
			}
		}
		for _, name := range names {
			into.taskRoles[name] = wanted
		}
		return nil
	}
}

// oneOf reads one of some words, in any case.
func oneOf[T any](words map[string]T) func(any) (T, error) {
	return func(value any) (T, error) {
		for word, meaning := range words {
			if text, ok := value.(string); ok && strings.EqualFold(word, strings.TrimSpace(text)) {
				return meaning, nil
			}
		}
		var none T
		return none, fmt.Errorf("%v is none of %s", shown(value), strings.Join(slices.Sorted(maps.Keys(words)), ", "))
	}
}
