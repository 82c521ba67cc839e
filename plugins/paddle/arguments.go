// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"sync"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/klog/v2"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/config"
	paddlejob "github.com/paddle-volcano/paddle-volcano/plugins/paddle/job"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/metrics"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/topology"
)

// arguments are the plugin's arguments, and what is derived from them.
type arguments struct {
	config.Arguments
	taskRoles paddlejob.RoleMap
}

func newArguments(a config.Arguments) arguments {
	return arguments{Arguments: a, taskRoles: paddlejob.NewRoleMap(a.ServerTasks, a.WorkerTasks, a.HeterTasks)}
}

// spec is what holds for jobs that say nothing about their placement.
func (a *arguments) spec() paddlejob.Spec {
	return paddlejob.Spec{Colocation: a.Colocation, ParameterBytes: a.ParameterBytes, ParallelGroupSize: a.ParallelGroupSize}
}

// networkOptions are the arguments that the topology depends on.
func (a *arguments) networkOptions() topology.Options {
	return topology.Options{
		Labels: a.TopologyLabels, Weights: a.TierWeights, IntraNodeWeight: a.IntraNodeWeight, Bandwidths: a.TierBandwidths,
		Accelerators: a.Accelerators,
	}
}

// argumentErrors remembers what was logged: plugins are built again in each session, with the same arguments.
var argumentErrors lastMessage

// lastMessage holds one message, so that the next one can be compared with it. It is safe for concurrent use.
type lastMessage struct {
	mu   sync.Mutex
	text string
}

// changed stores the message of err, "" for nil, and reports whether it differs from the one before.
func (m *lastMessage) changed(err error) bool {
	text := ""
	if err != nil {
		text = err.Error()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.text == text {
		return false
	}
	m.text = text
	return true
}

// logArguments logs errors of arguments once per change of the configuration, and counts them.
func logArguments(errs field.ErrorList) {
	metrics.SetArgumentErrors(len(errs))
	err := errs.ToAggregate()
	if err == nil {
		argumentErrors.changed(nil)
	} else if argumentErrors.changed(err) {
		klog.ErrorS(err, "Invalid arguments in volcano-scheduler.conf keep their defaults", "plugin", PluginName)
	}
}
