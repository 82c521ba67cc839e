// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"volcano.sh/volcano/pkg/scheduler/framework"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/network"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// Keys of the plugin's arguments in volcano-scheduler.conf.
const (
	argServerTasks    = "server-tasks"
	argWorkerTasks    = "worker-tasks"
	argHeterTasks     = "heter-tasks"
	argLabels         = "topology-labels"
	argPrices         = "tier-prices"
	argIslandPrice    = "island-price"
	argBandwidths     = "tier-bandwidths"
	argAccelerators   = "accelerators"
	argObjective      = "objective"
	argEffort         = "effort"
	argColocation     = "colocation"
	argColocationTier = "colocation-tier"
	argParameterSize  = "parameter-size"
	argGroupSize      = "parallel-group-size"
	argWeight         = "weight"
	argKeepPlace      = "keep-place-percent"
	argPlanning       = "planning-seconds"
)

// arguments are the plugin's arguments, checked.
type arguments struct {
	// taskRoles is the role of each known task name.
	taskRoles map[string]role
	// network is how the cluster's network is read, and what its tiers cost.
	network network.Options
	// objective says which cost of traffic goes first.
	objective placement.Objective
	// effort multiplies the bound on the planner's work.
	effort int
	// colocation of servers and workers, and the tier that it speaks of (0 node, 1 nearest label or HyperNode tier), for
	// jobs that say nothing themselves.
	colocation     placement.Colocation
	colocationTier int
	// parameterBytes of a job that does not say; 0 counts in sizes of its model.
	parameterBytes float64
	// groupSize is how many consecutive ranks make a parallel group, for jobs that do not say; 0 means none.
	groupSize int
	// weight of our score in the fallback.
	weight float64
	// keepPlace is how much dearer than the best plan, as a share of its cost, the old place of a restarted gang may be.
	keepPlace float64
	// planning is the time for planning in one session.
	planning time.Duration
}

// defaultArguments is what holds where volcano-scheduler.conf says nothing.
func defaultArguments() arguments {
	return arguments{
		taskRoles:      maps.Clone(defaultTaskRoles),
		network:        network.Options{Accelerators: slices.Clone(defaultAccelerators)},
		effort:         1,
		colocationTier: 1,
		weight:         10,
		keepPlace:      0.10,
		planning:       5 * time.Second,
	}
}

// argumentError is one wrong argument.
type argumentError struct {
	key string
	err error
}

// Error implements error.
func (e *argumentError) Error() string {
	return fmt.Sprintf("argument %q is ignored: %v", e.key, e.err)
}

// parseArguments reads the arguments. Each wrong one is named in the error (errors.Join of argumentErrors) and left at
// its default.
func parseArguments(raw framework.Arguments) (arguments, error) {
	parsed := defaultArguments()
	wrong := readArguments(raw, &parsed)
	errs := make([]error, len(wrong))
	for i, err := range wrong {
		errs[i] = err
	}
	return parsed, errors.Join(errs...)
}

// readArguments sets each argument of raw and gives the wrong ones, which it leaves alone, by key.
func readArguments(raw framework.Arguments, into *arguments) []*argumentError {
	var wrong []*argumentError
	for _, key := range slices.Sorted(maps.Keys(raw)) {
		set, known := settings[key]
		err := errNoArgument(key)
		if known {
			err = set(raw[key], into)
		}
		if err != nil {
			wrong = append(wrong, &argumentError{key, err})
		}
	}
	return wrong
}

func errNoArgument(key string) error {
	known := slices.Sorted(maps.Keys(settings))
	if meant, ok := nearest(key, known); ok {
		return fmt.Errorf("there is no such argument; did you mean %s?", meant)
	}
	return fmt.Errorf("there is no such argument; known are %s", strings.Join(known, ", "))
}
