// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"slices"
	"strings"

	"github.com/paddle-volcano/paddle-volcano/test/conformance/rules"
)

// checkHeter judges the pipeline of trainers and heterogeneous trainers as each process sees it.
func (g *Gang) checkHeter(pod *Pod, role rules.PSRole, trainers, heter []Pod, problems *problems) {
	seen := role.Heter
	switch {
	case len(heter) == 0 && seen == nil:
		return
	case len(heter) == 0:
		problems.add(pod, "takes the job for a heterogeneous one: PADDLE_ALL_HETER_TRAINER_IP_PORT_LIST is %v", seen.All)
		return
	case seen == nil:
		problems.add(pod, "knows nothing of the %d heterogeneous trainers", len(heter))
		return
	}
	g.checkEndpoints("PADDLE_ALL_HETER_TRAINER_IP_PORT_LIST", seen.All, heter, pod, problems)
	// Releases 2.0 and 2.1 read this list, and take a device from its own variable.
	g.checkEndpoints("PADDLE_HETER_TRAINER_IP_PORT_LIST", split(pod.Env["PADDLE_HETER_TRAINER_IP_PORT_LIST"]), heter, pod, problems)
	if device := pod.Env["PADDLE_HETER_TRAINER_DEVICE"]; !slices.Contains([]string{"cpu", "gpu", "xpu"}, device) {
		problems.add(pod, "PADDLE_HETER_TRAINER_DEVICE is %q, not cpu, gpu or xpu", device)
	}
	if pod.Role == rules.Server {
		return
	}
	if want := []int{len(trainers), len(heter)}; seen.Stages != 2 || !slices.Equal(seen.Trainers, want) {
		problems.add(pod, "reckons with %d stages of %v processes, and there are 2 of %v", seen.Stages, seen.Trainers, want)
	}
	stage := 1
	if pod.Role == rules.HeterTrainer {
		stage = 2
		g.checkEndpoints("PADDLE_PREVIOUS_HETER_TRAINER_IP_PORT_LIST", seen.Previous, trainers, pod, problems)
	} else {
		g.checkEndpoints("PADDLE_NEXT_HETER_TRAINER_IP_PORT_LIST", seen.Next, heter, pod, problems)
	}
	if seen.Stage != stage {
		problems.add(pod, "takes itself for a process of stage %d, and is of stage %d", seen.Stage, stage)
	}
}

// split is a list without entries where the variable is not set.
func split(list string) []string {
	if list == "" {
		return nil
	}
	return strings.Split(list, ",")
}
