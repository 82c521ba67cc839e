// SPDX-License-Identifier: Apache-2.0

// Package config holds the plugin's arguments in volcano-scheduler.conf: their types, defaults, decoding and validation.
// It is the only reader of that file. No sessions, nodes or jobs live here.
package config

import (
	"time"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// PluginName is the name of the plugin in volcano-scheduler.conf.
const PluginName = "paddle"

// Arguments are the plugin's arguments.
type Arguments struct {
	// ServerTasks, WorkerTasks and HeterTasks are the names of tasks that have the role. Paddle's own names are among them.
	ServerTasks []string
	WorkerTasks []string
	HeterTasks  []string

	// TopologyLabels are keys of node labels, nearest first. Each is a tier where there are no HyperNodes.
	TopologyLabels []string
	// TierWeights weigh a byte that leaves a node, and then a byte that leaves a domain of each tier above.
	TierWeights []float64
	// IntraNodeWeight weighs a byte between GPUs of one node that are not linked.
	IntraNodeWeight float64
	// TierBandwidths are those of a node's uplink and then of each tier's, one direction, in bytes per second.
	TierBandwidths []float64
	// Accelerators are the resources that count whole GPUs.
	Accelerators []string

	// Objective is the cost that a plan minimizes first.
	Objective placement.Objective
	// SearchBudget multiplies the bound on the planner's work.
	SearchBudget int
	// PlanningSeconds bounds the time of all searches of one session.
	PlanningSeconds float64
	// RestartTolerancePercent is how much more than the best plan the previous nodes of a restarted gang may cost.
	RestartTolerancePercent float64
	// Weight multiplies the plugin's score of nodes for tasks without a plan.
	Weight float64

	// Colocation, ColocationTier, ParameterBytes and ParallelGroupSize apply to jobs without the annotation.
	// ColocationTier counts from 0, the node. ParameterBytes 0 means unknown. ParallelGroupSize 0 means no groups.
	Colocation        placement.Colocation
	ColocationTier    int
	ParameterBytes    float64
	ParallelGroupSize int
}

// PlanningTime returns PlanningSeconds as a duration.
func (a *Arguments) PlanningTime() time.Duration {
	return time.Duration(a.PlanningSeconds * float64(time.Second))
}

// Default returns the arguments that apply where volcano-scheduler.conf sets none.
func Default() Arguments {
	return Arguments{
		ServerTasks:     []string{"ps", "pserver"},
		WorkerTasks:     []string{"worker", "trainer"},
		HeterTasks:      []string{"heter"},
		IntraNodeWeight: 0.25,
		// Resources of whole devices that PaddlePaddle trains on, as their makers' device plugins name them.
		Accelerators: []string{
			"nvidia.com/gpu", "amd.com/gpu", "kunlunxin.com/xpu", "huawei.com/Ascend910", "cambricon.com/mlu", "hygon.com/dcu",
			"iluvatar.com/gpu", "iluvatar.ai/gpu", "metax-tech.com/gpu", "enflame.com/gcu",
		},
		SearchBudget:            1,
		PlanningSeconds:         5,
		RestartTolerancePercent: 10,
		Weight:                  10,
		ColocationTier:          1,
	}
}
