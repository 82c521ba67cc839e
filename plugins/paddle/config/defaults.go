// SPDX-License-Identifier: Apache-2.0

package config

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
