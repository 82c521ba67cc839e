// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// HeterRole is what a process concludes about heterogeneous training, a pipeline of stages: the trainers are the first,
// the heterogeneous trainers those behind it.
type HeterRole struct {
	// All are the heterogeneous trainers' endpoints.
	All []string
	// Next and Previous are the endpoints of the stages behind and before the process's own.
	Next, Previous []string
	// Stage counts from 1, of Stages; Trainers has the number of processes of each. Servers have none of these.
	Stage, Stages int
	Trainers      []int
	// Device is cpu, gpu or xpu; only heterogeneous trainers have one.
	Device string
}

// heterRole concludes what _ps_env does with the variables of heterogeneous training, nil where there is none.
//
// Source: python/paddle/distributed/fleet/base/role_maker.py, PaddleCloudRoleMaker._ps_env, 2.2 to 3.x.
func heterRole(env map[string]string, role string) (*HeterRole, error) {
	list := env["PADDLE_ALL_HETER_TRAINER_IP_PORT_LIST"]
	if list == "" {
		if role == HeterTrainer {
			return nil, fmt.Errorf("AttributeError: TRAINING_ROLE is %s without PADDLE_ALL_HETER_TRAINER_IP_PORT_LIST", role)
		}
		return nil, nil //nolint:nilnil // most jobs have none
	}
	h := &HeterRole{All: strings.Split(list, ",")}
	if previous := env["PADDLE_PREVIOUS_HETER_TRAINER_IP_PORT_LIST"]; previous != "" {
		h.Previous = strings.Split(previous, ",")
	} else if role == HeterTrainer {
		return nil, fmt.Errorf("AssertionError: PADDLE_PREVIOUS_HETER_TRAINER_IP_PORT_LIST is empty, and TRAINING_ROLE is %s", role)
	}
	if next := env["PADDLE_NEXT_HETER_TRAINER_IP_PORT_LIST"]; next != "" {
		h.Next = strings.Split(next, ",")
	} else if role == Trainer {
		return nil, fmt.Errorf("AssertionError: PADDLE_NEXT_HETER_TRAINER_IP_PORT_LIST is empty, and TRAINING_ROLE is %s", role)
	}
	if role == Server {
		return h, nil
	}
	return h, h.readStage(env, role)
}

func (h *HeterRole) readStage(env map[string]string, role string) error {
	var err error
	if h.Stage, err = integer(env, "STAGE_ID"); err != nil {
		return err
	}
	if h.Stages, err = integer(env, "STAGE_NUM"); err != nil {
		return err
	}
	counts, err := text(env, "PADDLE_STAGE_TRAINERS_NUM")
	if err != nil {
		return err
	}
	// It is evaluated as Python; only a list of numbers is of use.
	inner, opened := strings.CutPrefix(strings.TrimSpace(counts), "[")
	inner, closed := strings.CutSuffix(inner, "]")
	if !opened || !closed {
		return fmt.Errorf("PADDLE_STAGE_TRAINERS_NUM=%q is not a list of numbers", counts)
	}
	for _, part := range strings.Split(inner, ",") {
		number, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil {
			return fmt.Errorf("PADDLE_STAGE_TRAINERS_NUM=%q is not a list of numbers", counts)
		}
		h.Trainers = append(h.Trainers, number)
	}
	if role != HeterTrainer {
		return nil
	}
	if h.Device, err = text(env, "HETER_DEVICE_TYPE"); err != nil {
		return err
	}
	if !slices.Contains([]string{"cpu", "gpu", "xpu"}, h.Device) {
		return fmt.Errorf("AssertionError: HETER_DEVICE_TYPE is %q, not cpu, gpu or xpu", h.Device)
	}
	return nil
}
