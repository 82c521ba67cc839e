// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

func TestUntilAsksUntilThereIsNoError(t *testing.T) {
	t.Parallel()
	p, asked := &Plane{Sandbox: &sandbox.Sandbox{}}, 0
	p.Await(t, "the third answer", func(context.Context) error {
		if asked++; asked < 3 {
			return errors.New("not yet")
		}
		return nil
	})
	require.Equal(t, 3, asked)
}

func TestUntilTellsWhatItWaitedForAndTheLastErrorThatExplains(t *testing.T) {
	t.Parallel()
	p, reason, asked := &Plane{Sandbox: &sandbox.Sandbox{}}, errors.New("it is Pending"), 0
	ctx, cancel := context.WithCancel(t.Context())
	err := p.Until(ctx, "the job", func(ctx context.Context) error {
		if asked++; asked < 2 {
			return reason
		}
		cancel()
		return ctx.Err()
	})
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, err, reason)
	require.EqualError(t, err, "gave up waiting for the job (context canceled): it is Pending (logs in logs)")
}
