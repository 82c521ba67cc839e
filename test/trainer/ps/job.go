// SPDX-License-Identifier: Apache-2.0

package ps

import (
	"fmt"
	"slices"

	"github.com/paddle-volcano/paddle-volcano/test/conformance/rules"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/process"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/wire"
)

// greet is what a process says first to a server.
func greet(p *process.Process, role *rules.PSRole, server int) Hello {
	return Hello{Role: role.Role, Index: role.Index, Server: server, Servers: role.Servers, World: role.Workers, Settings: p.Settings(), Steps: p.Options.Steps}
}

// fits says why a client is not of the same job as the server.
func (h *Hello) fits(own Hello) error {
	who := fmt.Sprintf("%s %d", h.Role, h.Index)
	switch {
	case h.Server != own.Index:
		return fmt.Errorf("wrong address: %s looks for server %d, and this is server %d", who, h.Server, own.Index)
	case len(h.Servers) != len(own.Servers):
		return fmt.Errorf("wrong number of servers: %s reckons with %d, and server %d with %d", who, len(h.Servers), own.Index, len(own.Servers))
	case !slices.Equal(h.Servers, own.Servers):
		return fmt.Errorf("wrong servers: %s knows %v, and server %d %v", who, h.Servers, own.Index, own.Servers)
	case h.World != own.World:
		return fmt.Errorf("wrong world size: %s reckons with %d trainers, and server %d with %d", who, h.World, own.Index, own.World)
	case h.Role == rules.Trainer && (h.Index < 0 || h.Index >= own.World):
		return fmt.Errorf("wrong rank: %s of %d trainers", who, own.World)
	case h.Role != rules.Trainer && h.Role != rules.HeterTrainer:
		return fmt.Errorf("wrong role: %s is no client of a server", who)
	case h.Settings != own.Settings || h.Steps != own.Steps:
		return fmt.Errorf("wrong training: %s has %+v and %d steps, and server %d %+v and %d", who, h.Settings, h.Steps, own.Index, own.Settings, own.Steps)
	}
	return nil
}

// check says why a role cannot be that of a job.
func check(role *rules.PSRole) error {
	if err := wire.EachOnce(role.Servers); err != nil {
		return fmt.Errorf("wrong servers: %w", err)
	}
	if role.Workers < 1 {
		return fmt.Errorf("wrong world size: %d trainers", role.Workers)
	}
	if role.Role == rules.Trainer && (role.Index < 0 || role.Index >= role.Workers) {
		return fmt.Errorf("wrong rank: %d of %d trainers", role.Index, role.Workers)
	}
	heter := role.Heter
	if heter == nil || role.Role == rules.Server {
		return nil
	}
	if want := []int{role.Workers, len(heter.All)}; heter.Stages != len(want) || !slices.Equal(heter.Trainers, want) {
		return fmt.Errorf("wrong stages: %d of %v processes, and there are 2 of %v", heter.Stages, heter.Trainers, want)
	}
	if role.Role == rules.HeterTrainer && (heter.Stage != 2 || len(heter.Previous) != role.Workers) {
		return fmt.Errorf("wrong stage: %d behind %d processes, and there are %d trainers", heter.Stage, len(heter.Previous), role.Workers)
	}
	if role.Role == rules.Trainer && (heter.Stage != 1 || !slices.Equal(heter.Next, heter.All)) {
		return fmt.Errorf("wrong stage: %d before %v, and behind it are %v", heter.Stage, heter.Next, heter.All)
	}
	return nil
}
