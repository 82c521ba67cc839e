// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Training roles, as TRAINING_ROLE names them.
const (
	Server       = "PSERVER"
	Trainer      = "TRAINER"
	HeterTrainer = "HETER_TRAINER"
)

// PSRole is what a process of parameter-server training concludes about itself and the others.
type PSRole struct {
	// Role is Server or Trainer.
	Role string
	// Index is the process's number within its role.
	Index int
	// Servers are the servers' endpoints in the order of their indices.
	Servers []string
	// Trainers are the trainers' endpoints; nil where they were not given, which only old versions mind.
	Trainers []string
	// Workers is the number of trainers.
	Workers int
	// Endpoint is the process's own endpoint.
	Endpoint string
	// Heter is what it concludes about heterogeneous training, nil if there is none.
	Heter *HeterRole
}

// ErrNotDistributed means that the process trains alone, without any other and without saying so.
var ErrNotDistributed = errors.New("trains alone")

// PSRoleMaker concludes what PaddleCloudRoleMaker does for `python train.py` with parameter servers.
//
// Source: python/paddle/distributed/fleet/base/role_maker.py, PaddleCloudRoleMaker._ps_env, 2.3 to 3.x.
func PSRoleMaker(env map[string]string) (PSRole, error) {
	var role PSRole
	list, ok := env["PADDLE_PSERVERS_IP_PORT_LIST"]
	if !ok {
		return role, fmt.Errorf("%w: PADDLE_PSERVERS_IP_PORT_LIST is not set", ErrNotDistributed)
	}
	role.Servers = strings.Split(list, ",")
	if list, ok := env["PADDLE_TRAINER_ENDPOINTS"]; ok {
		role.Trainers = strings.Split(list, ",")
	}
	workers, err := integer(env, "PADDLE_TRAINERS_NUM")
	if err != nil {
		return role, err
	}
	role.Workers = workers
	if role.Role, err = text(env, "TRAINING_ROLE"); err != nil {
		return role, err
	}
	if role.Role != Server && role.Role != Trainer && role.Role != HeterTrainer {
		return role, fmt.Errorf("ValueError: TRAINING_ROLE is %q: it must be %s, %s or %s", role.Role, Server, Trainer, HeterTrainer)
	}
	if role.Heter, err = heterRole(env, role.Role); err != nil {
		return role, err
	}
	if role.Role == Trainer {
		if role.Index, err = integer(env, "PADDLE_TRAINER_ID"); err != nil {
			return role, err
		}
	}
	port, err := text(env, "PADDLE_PORT")
	if err != nil {
		return role, err
	}
	ip, err := text(env, "POD_IP")
	if err != nil {
		return role, err
	}
	role.Endpoint = ip + ":" + port
	if role.Role == Server {
		if role.Index = slices.Index(role.Servers, role.Endpoint); role.Index < 0 {
			return role, fmt.Errorf("ValueError: the server does not find its own endpoint %s (POD_IP:PADDLE_PORT) in PADDLE_PSERVERS_IP_PORT_LIST=%s", role.Endpoint, list)
		}
	}
	if role.Role == HeterTrainer {
		if role.Index = slices.Index(role.Heter.All, role.Endpoint); role.Index < 0 {
			return role, fmt.Errorf("ValueError: the process does not find its own endpoint %s (POD_IP:PADDLE_PORT) in PADDLE_ALL_HETER_TRAINER_IP_PORT_LIST=%s",
				role.Endpoint, strings.Join(role.Heter.All, ","))
		}
	}
	return role, nil
}

// CollectiveRole is what a process of collective training concludes about itself and the others.
type CollectiveRole struct {
	// Rank is the process's number, World the number of processes.
	Rank, World int
}

// CollectiveRoleMaker concludes what PaddleCloudRoleMaker(is_collective=True) does.
//
// Source: python/paddle/distributed/fleet/base/role_maker.py, PaddleCloudRoleMaker._collective_env.
func CollectiveRoleMaker(env map[string]string) (CollectiveRole, error) {
	role := CollectiveRole{World: 1}
	if _, ok := env["PADDLE_TRAINER_ID"]; ok {
		rank, err := integer(env, "PADDLE_TRAINER_ID")
		if err != nil {
			return role, err
		}
		role.Rank = rank
	}
	if name, ok := env["PADDLE_TRAINING_ROLE"]; ok && name != Trainer {
		return role, fmt.Errorf("AssertionError: PADDLE_TRAINING_ROLE is %q, and every process of collective training is a %s", name, Trainer)
	}
	if list, ok := env["PADDLE_TRAINER_ENDPOINTS"]; ok {
		role.World = len(strings.Split(list, ","))
	}
	return role, nil
}

func text(env map[string]string, name string) (string, error) {
	value, ok := env[name]
	if !ok {
		return "", fmt.Errorf("ValueError: %s is not set", name)
	}
	return value, nil
}

// integer reads a number as Python's int does.
func integer(env map[string]string, name string) (int, error) {
	value, err := text(env, name)
	if err != nil {
		return 0, err
	}
	number, err := strconv.Atoi(strings.TrimSpace(value))
	if err != nil {
		return 0, fmt.Errorf("ValueError: %s=%q is not a number", name, value)
	}
	return number, nil
}

// SplitEndpoint splits as Paddle does in `ip, port = endpoint.split(':')` does: a scheme or an IPv6 address raises.
func SplitEndpoint(endpoint string) (host string, port int, err error) {
	parts := strings.Split(endpoint, ":")
	if len(parts) != 2 {
		return "", 0, fmt.Errorf("ValueError: endpoint %q is not host:port, without a scheme and not IPv6", endpoint)
	}
	port, err = strconv.Atoi(parts[1])
	if err != nil || port < 1 || port > 65535 || parts[0] == "" {
		return "", 0, fmt.Errorf("endpoint %q has no host, or no port from 1 to 65535", endpoint)
	}
	return parts[0], port, nil
}

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
