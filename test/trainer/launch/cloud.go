// SPDX-License-Identifier: Apache-2.0

package launch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"

	"github.com/paddle-volcano/paddle-volcano/test/conformance/rules"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/process"
)

// cloud is the launcher of Paddle 2.0 to 2.2, whose nodes do not meet: each works all endpoints out.
func cloud(ctx context.Context, p *process.Process, start Start) error {
	if p.Env["PADDLE_PSERVERS_IP_PORT_LIST"] != "" {
		return start(ctx, p)
	}
	launcher, err := rules.CloudLaunch(p.Env)
	if errors.Is(err, rules.ErrNotDistributed) {
		p.Say("launcher, Paddle 2.0: %v", err)
		own, err := p.Net.Free(ctx, p.Net.IP, 0, 0)
		if err != nil {
			return err
		}
		return start(ctx, p.Child(variables(place{endpoints: []string{own}})))
	}
	if err != nil {
		return fmt.Errorf("launcher, Paddle 2.0: %w", err)
	}
	at := place{rank: launcher.Rank}
	for _, host := range launcher.Hosts {
		at.endpoints = append(at.endpoints, net.JoinHostPort(host, strconv.Itoa(launcher.FirstPort)))
	}
	return start(ctx, p.Child(variables(at)))
}
