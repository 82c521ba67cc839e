// SPDX-License-Identifier: Apache-2.0

package ps

import (
	"context"
	"fmt"

	"github.com/paddle-volcano/paddle-volcano/test/conformance/rules"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/gloo"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/model"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/process"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/train"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/wire"
)

// trainer trains as one of the workers.
func trainer(ctx context.Context, p *process.Process, role *rules.PSRole, meeting *gloo.Meeting) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p.Say("trainer %d of %d, servers %v", role.Index, role.Workers, role.Servers)
	group, err := meeting.Join(ctx, p)
	if err != nil {
		return err
	}
	defer group.Close()
	e := &exchange{process: p, role: role, group: group}
	if e.servers, err = meet(ctx, p, role); err != nil {
		return err
	}
	defer e.servers.close()
	if role.Heter != nil {
		if e.middles, err = meetMiddles(ctx, p, role); err != nil {
			return err
		}
		defer e.closeMiddles()
	}
	return train.Run(ctx, p, train.Member{Rank: role.Index, World: role.Workers}, e)
}

// exchange goes through the servers, and through the heterogeneous trainers where there are some.
type exchange struct {
	process *process.Process
	role    *rules.PSRole
	group   *gloo.Group
	servers *servers
	middles []*wire.Client
}

var _ train.Exchange = (*exchange)(nil)

// Begin brings the first parameters if this is trainer 0, and takes what the servers have.
func (e *exchange) Begin(ctx context.Context, offered model.State) (model.State, error) {
	if e.role.Index == 0 {
		if err := e.servers.start(ctx, offered); err != nil {
			return offered, err
		}
	}
	step, err := e.servers.ready(ctx)
	if err != nil {
		return offered, err
	}
	state, err := e.servers.pull(ctx, step)
	state.Settings = offered.Settings
	return state, err
}

// Params pulls from all servers.
func (e *exchange) Params(ctx context.Context, step int) (params []float64, loss float64, err error) {
	state, err := e.servers.pull(ctx, step)
	return state.Params, state.Loss, err
}

// Contribute pushes the clicks' gradient to all servers.
func (e *exchange) Contribute(ctx context.Context, step int, params []float64, clicks []model.Click) error {
	push := Push{Rank: e.role.Index, Step: step}
	if len(e.middles) == 0 {
		gradient := model.Compute(params, clicks)
		for part, sums := range gradient.Parts {
			push.Part, push.Sums, push.Loss = model.Part(part), sums, 0
			if push.Part == model.Middle {
				push.Loss = gradient.Loss
			}
			if err := e.servers.push(ctx, push); err != nil {
				return err
			}
		}
		return nil
	}
	task := MiddleTask{Rank: e.role.Index, Step: step, Forward: model.RunFront(params, clicks)}
	var back model.Backward
	if err := e.middles[e.role.Index%len(e.middles)].Do(ctx, "Middle.Run", task, &back); err != nil {
		return err
	}
	if len(back.Wide) != len(clicks) || len(back.Inputs) != len(clicks) {
		return fmt.Errorf("the middle has answered for %d and %d clicks of %d", len(back.Wide), len(back.Inputs), len(clicks))
	}
	push.Part, push.Sums = model.Front, model.EndFront(clicks, back)
	return e.servers.push(ctx, push)
}

// End waits for the others through gloo, where that is on, and takes leave of the servers and the middle.
func (e *exchange) End(ctx context.Context) error {
	if err := e.group.Barrier(ctx); err != nil {
		return err
	}
	for _, middle := range e.middles {
		if err := middle.Do(ctx, "Middle.Done", e.role.Index, new(Nothing)); err != nil {
			return err
		}
	}
	return e.servers.each(ctx, func(ctx context.Context, i int) error {
		return e.servers.clients[i].Do(ctx, "Server.Done", Nothing(true), new(Nothing))
	})
}
