// SPDX-License-Identifier: Apache-2.0

package meet

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/test/trainer/wire"
)

// A round that has lost a member is tried again with the same nodes until the lost one's lease has expired. A member may come
// back before the hub of the first attempt has closed.
func TestAMemberWaitsForTheHubOfTheNextAttempt(t *testing.T) {
	t.Parallel()
	network := &wire.Net{Deadline: 30 * time.Second}
	endpoint, err := network.Free(t.Context(), "127.0.0.1", 0, 0)
	require.NoError(t, err)
	round := Group{Name: "rank", Size: 2, Round: "a,b"}
	serve := func() *Hub {
		hub, err := Serve(t.Context(), network, t.Logf, "rank 0", endpoint, round)
		require.NoError(t, err)
		return hub
	}
	first := serve()
	var before, after Mesh
	defer before.Close()
	defer after.Close()
	require.NoError(t, before.Join(t.Context(), network, "rank", []string{endpoint}, round, 1))
	joined := make(chan error, 1)
	go func() { joined <- after.Join(t.Context(), network, "rank", []string{endpoint}, round, 1) }()
	select {
	case err := <-joined:
		require.FailNow(t, "the hub of the first attempt has admitted or refused the member", "%v", err)
	case <-time.After(300 * time.Millisecond):
	}
	first.Close()
	defer serve().Close()
	require.NoError(t, <-joined)
}
