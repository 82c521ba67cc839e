// SPDX-License-Identifier: Apache-2.0

package launch

import (
	"context"
	"fmt"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/paddle-volcano/paddle-volcano/test/conformance/rules"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/elastic"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/options"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/process"
)

// Start is `python train.py` with the variables of a process.
type Start func(context.Context, *process.Process) error

// Run is the launcher of the release that the options name.
func Run(ctx context.Context, p *process.Process, start Start) error {
	if p.Options.Paddle == options.Paddle20 {
		return cloud(ctx, p, start)
	}
	_, listed := p.Env["PADDLE_TRAINER_ENDPOINTS"]
	if strings.HasPrefix(p.Env["PADDLE_MASTER"], "etcd://") && !listed {
		launcher, err := rules.ElasticLaunch(p.Env, p.Net.IP)
		if err != nil {
			return fmt.Errorf("launcher: %w", err)
		}
		return elastic.Run(ctx, p, &launcher)
	}
	release := map[string]rules.Release{options.Paddle23: rules.First, options.Paddle2022: rules.Until2023, options.Current: rules.Since2023}[p.Options.Paddle]
	launcher, err := rules.Launch(p.Env, p.Net.IP, release)
	if err != nil {
		return fmt.Errorf("launcher, %s: %w", release, err)
	}
	if launcher.PS {
		return startAll(ctx, p, start, processes(p, &launcher))
	}
	return collective(ctx, p, &launcher, start)
}

// startAll runs the processes of the node; the first that fails ends the others.
func startAll(ctx context.Context, p *process.Process, start Start, more []map[string]string) error {
	if len(more) == 0 {
		return fmt.Errorf("the launcher has nothing to start: no entry of PADDLE_SERVERS_ENDPOINTS=%s or PADDLE_TRAINERS_ENDPOINTS=%s begins with its own address",
			p.Env["PADDLE_SERVERS_ENDPOINTS"], p.Env["PADDLE_TRAINERS_ENDPOINTS"])
	}
	group, ctx := errgroup.WithContext(ctx)
	for _, variables := range more {
		group.Go(func() error { return start(ctx, p.Child(variables)) })
	}
	return group.Wait()
}
