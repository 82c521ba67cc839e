// SPDX-License-Identifier: Apache-2.0

package launch

import (
	"context"
	"strconv"
	"strings"

	"github.com/paddle-volcano/paddle-volcano/test/conformance/rules"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/process"
)

// collective starts the node's one process, once the launchers have met where there are several.
func collective(ctx context.Context, p *process.Process, launcher *rules.Launcher, start Start) error {
	low, high, _ := rules.PortRange(p.Env)
	own, err := p.Net.Free(ctx, launcher.Host, low, high)
	if err != nil {
		return err
	}
	place := place{endpoints: []string{own}}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if launcher.Nodes > 1 {
		var end func()
		if place, end, err = meet(ctx, p, launcher, own); err != nil {
			return err
		}
		defer end()
		defer cancel()
		p.Say("launcher: node %d of %d at %s, the master is %s", place.rank, launcher.Nodes, own, launcher.Master)
	}
	return start(ctx, p.Child(variables(place)))
}

// place is a node's place among all, each of which has one process.
type place struct {
	rank      int
	endpoints []string
}

func variables(place place) map[string]string {
	return map[string]string{
		"PADDLE_TRAINER_ENDPOINTS": strings.Join(place.endpoints, ","),
		"PADDLE_CURRENT_ENDPOINT":  place.endpoints[place.rank],
		"PADDLE_TRAINER_ID":        strconv.Itoa(place.rank),
		"PADDLE_TRAINERS_NUM":      strconv.Itoa(len(place.endpoints)),
	}
}
