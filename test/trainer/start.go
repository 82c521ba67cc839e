// SPDX-License-Identifier: Apache-2.0

package trainer

import (
	"context"
	"fmt"
	"strings"

	"github.com/paddle-volcano/paddle-volcano/test/conformance/rules"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/argv"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/process"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/train"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/wire"
)

func start(ctx context.Context, p *process.Process, program string) error {
	if p.Options.SlowStart > 0 {
		p.Say("does nothing for %s, as asked for", p.Options.SlowStart)
		if err := wire.Sleep(ctx, p.Options.SlowStart); err != nil {
			return err
		}
	}
	switch program {
	case argv.Train:
		return trainPy(ctx, p)
	case argv.Launch:
		return launch(ctx, p)
	}
	command, err := rules.ReadCommand(program+" train", p.Env, p.Net.IP, frontEnds[program])
	if err != nil {
		return err
	}
	launcher := *p
	launcher.Env = command.Env
	return launch(ctx, &launcher, command.Arguments...)
}

// frontEnds are the newest versions of the command lines.
var frontEnds = map[string]string{argv.PaddleFormers: "paddleformers-cli 2026-01-28", argv.ERNIEKit: "erniekit after 1.0"}

// trainPy is `python train.py`. Servers in the environment make it parameter-server training, as in the programs of the
// examples.
func trainPy(ctx context.Context, p *process.Process) error {
	if _, ok := p.Env["PADDLE_PSERVERS_IP_PORT_LIST"]; ok {
		role, err := rules.PSRoleMaker(p.Env)
		if err != nil {
			return fmt.Errorf("role maker: %w", err)
		}
		gloo, err := rules.PSGloo(p.Env, role)
		if err != nil {
			return fmt.Errorf("gloo: %w", err)
		}
		return (&psProcess{Process: p, PSRole: role, gloo: gloo}).run(ctx)
	}
	role, err := rules.CollectiveRoleMaker(p.Env)
	if err != nil {
		return fmt.Errorf("role maker: %w", err)
	}
	endpoints := strings.Split(p.Env["PADDLE_TRAINER_ENDPOINTS"], ",")
	if own, ok := p.Env["PADDLE_CURRENT_ENDPOINT"]; ok && role.Rank >= 0 && role.Rank < len(endpoints) && endpoints[role.Rank] != own {
		return fmt.Errorf("wrong rank: rank %d is at %s, and this process at %s", role.Rank, endpoints[role.Rank], own)
	}
	return collective(ctx, &train.Trainer{Process: p, Rank: role.Rank, World: role.World}, endpoints, "")
}
