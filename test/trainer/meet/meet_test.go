// SPDX-License-Identifier: Apache-2.0

package meet

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/paddle-volcano/paddle-volcano/test/trainer/wire"
)

var pair = Group{Name: "rank", Size: 2, Job: "job"}

func serve(t *testing.T, ip string, deadline time.Duration) (network *wire.Net, endpoint string, hub *Hub) {
	t.Helper()
	network, endpoint = &wire.Net{IP: ip, Deadline: deadline}, ip+":36000"
	hub, err := Serve(t.Context(), network, t.Logf, "the hub", endpoint, pair)
	require.NoError(t, err)
	t.Cleanup(hub.Close)
	return network, endpoint, hub
}

func TestMembersExchangeData(t *testing.T) {
	network, endpoint, hub := serve(t, "127.8.0.1", 10*time.Second)
	var members errgroup.Group
	for rank := range 2 {
		members.Go(func() error {
			var m Mesh
			defer m.Close()
			if err := m.Join(t.Context(), network, "hub", []string{endpoint}, pair, rank); err != nil {
				return err
			}
			for step := range 3 {
				all, err := m.All(t.Context(), strconv.Itoa(step), rank*10+step)
				if err != nil {
					return err
				}
				require.Equal(t, []string{strconv.Itoa(step), strconv.Itoa(10 + step)}, []string{string(all[0]), string(all[1])})
			}
			return m.Bye()
		})
	}
	require.NoError(t, members.Wait())
	require.NoError(t, hub.Done(t.Context(), pair.Name))
}

func TestHubRefuses(t *testing.T) {
	network, endpoint, _ := serve(t, "127.8.0.2", 300*time.Millisecond)
	network.Resolve = func(context.Context, string) ([]string, error) { return []string{"127.8.0.2"}, nil }
	join := func(endpoint string, g Group, rank int) error {
		return (&Mesh{}).Join(t.Context(), network, "hub", []string{endpoint}, g, rank)
	}
	require.NoError(t, join(endpoint, pair, 1))
	for want, err := range map[string]error{
		"wrong address: rank 0 looks for other:36000, and the hub is at 127.8.0.2:36000": join("other:36000", pair, 0),
		"wrong rank: rank 1 comes to the hub twice":                                      join(endpoint, pair, 1),
		"wrong rank: rank 2 comes to the hub, and there are 2 members":                   join(endpoint, pair, 2),
		"wrong world size: rank 0 expects 3 members, and the hub expects 2":              join(endpoint, Group{"rank", 3, "job", ""}, 0),
		"wrong job: rank 0 has another, and the hub has job":                             join(endpoint, Group{"rank", 2, "another", ""}, 0),
		"wrong role: node 0 looks for 127.8.0.2:36000":                                   join(endpoint, Group{"node", 2, "job", ""}, 0),
		"not within 300ms: hub 0 at 127.8.0.2:36000: wrong round: ":                      join(endpoint, Group{"rank", 2, "job", "2"}, 0),
	} {
		require.ErrorContains(t, err, want)
	}
}

func TestMembersLearnWhoIsMissing(t *testing.T) {
	network, endpoint, hub := serve(t, "127.8.0.3", 300*time.Millisecond)
	var first, second Mesh
	require.NoError(t, first.Join(t.Context(), network, "hub", []string{endpoint}, pair, 0))
	require.NoError(t, second.Join(t.Context(), network, "hub", []string{endpoint}, pair, 1))
	_, err := first.All(t.Context(), "step 1", 0)
	require.ErrorAs(t, err, &LostError{})
	require.ErrorContains(t, err, "1 of 2 members have come to step 1 within 300ms: rank [1] is missing")
	second.Close()
	_, err = first.All(t.Context(), "step 2", 0)
	require.ErrorAs(t, err, &LostError{})
	require.ErrorContains(t, err, "rank 1 has gone before step 2")
	require.ErrorContains(t, hub.Done(t.Context(), pair.Name), "rank 1 has gone before it was done")
}
