// SPDX-License-Identifier: Apache-2.0

package ps

import (
	"context"

	"golang.org/x/sync/errgroup"

	"github.com/paddle-volcano/paddle-volcano/test/conformance/rules"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/gloo"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/process"
)

// Run is one process of a job with servers, in the role that it has worked out.
func Run(ctx context.Context, p *process.Process, role rules.PSRole, where rules.Gloo) error {
	if err := check(&role); err != nil {
		return err
	}
	meeting := gloo.Meeting{Gloo: where, Servers: role.Servers, Trainers: role.Workers, Index: role.Index, IsServer: role.Role == rules.Server}
	switch role.Role {
	case rules.Server:
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		group, ctx := errgroup.WithContext(ctx)
		group.Go(func() error { return meeting.Serve(ctx, p) })
		group.Go(func() error {
			defer cancel() // the store ends with the server
			return serve(ctx, p, &role)
		})
		return group.Wait()
	case rules.HeterTrainer:
		return middle(ctx, p, &role)
	}
	return trainer(ctx, p, &role, &meeting)
}
