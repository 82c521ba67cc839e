// SPDX-License-Identifier: Apache-2.0

package trainer

import (
	"context"
	"fmt"
	"slices"

	"github.com/paddle-volcano/paddle-volcano/test/trainer/meet"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/train"
)

// collective trains as one rank of several without servers: each rank connects to the endpoints of all.
func collective(ctx context.Context, t *train.Trainer, endpoints []string, round string) error {
	t.Say("trainer %d of %d in collective training", t.Rank, t.World)
	if t.Rank < 0 || t.Rank >= t.World || len(endpoints) != t.World {
		return fmt.Errorf("wrong rank: %d of %d trainers at %v", t.Rank, t.World, endpoints)
	}
	t.Mesh = &meet.Mesh{}
	defer t.Mesh.Close()
	if t.World == 1 {
		return t.Run(ctx)
	}
	group := meet.Group{Name: "rank", Size: t.World, Job: fmt.Sprintf("ranks %v and %d steps", endpoints, t.Options.Steps), Round: round}
	hub, err := meet.Serve(ctx, t.Net, t.Say, fmt.Sprintf("rank %d", t.Rank), endpoints[t.Rank], group)
	if err != nil {
		return err
	}
	defer hub.Close()
	if err := t.Mesh.Join(ctx, t.Net, "rank", slices.Clone(endpoints), group, t.Rank); err != nil {
		return err
	}
	if err := t.Run(ctx); err != nil {
		return err
	}
	return hub.Done(ctx, group.Name)
}
