// SPDX-License-Identifier: Apache-2.0

package gloo

import (
	"context"
	"net"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/paddle-volcano/paddle-volcano/test/trainer/store"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/wire"
)

// meet lets members of a group meet at a store of their own, member i at 127.8.1.i.
func meet(t *testing.T, hellos ...Hello) ([]*Group, []error) {
	t.Helper()
	networks := make([]*wire.Net, len(hellos))
	for i := range networks {
		networks[i] = &wire.Net{IP: "127.8.1." + strconv.Itoa(i+1), Deadline: 3 * time.Second}
	}
	endpoint, err := networks[0].Free(t.Context(), networks[0].IP, 0, 0)
	require.NoError(t, err)
	listener, err := networks[0].Listen(t.Context(), endpoint)
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	t.Cleanup(stop)
	go store.Serve(ctx, listener)
	groups, errs := make([]*Group, len(hellos)), make([]error, len(hellos))
	var all errgroup.Group
	for i, hello := range hellos {
		all.Go(func() error {
			client := store.NewClient(networks[i], "gloo's store", net.JoinHostPort("127.8.1.1", endpoint[len("127.8.1.1:"):]))
			defer client.Close()
			groups[i], errs[i] = join(ctx, networks[i], client, hello, networks[i].IP)
			return nil
		})
	}
	require.NoError(t, all.Wait())
	return groups, errs
}

func TestBarrier(t *testing.T) {
	for size := 1; size <= 4; size++ {
		hellos := make([]Hello, size)
		for rank := range hellos {
			hellos[rank] = Hello{Group: "worker", From: rank, Size: size, Job: "a:1"}
		}
		groups, errs := meet(t, hellos...)
		var all errgroup.Group
		for rank, group := range groups {
			require.NoError(t, errs[rank])
			all.Go(func() error {
				for range 3 {
					if err := group.Barrier(t.Context()); err != nil {
						return err
					}
				}
				return nil
			})
		}
		require.NoError(t, all.Wait())
		for _, group := range groups {
			group.Close()
		}
	}
}

func TestBarrierNoticesWhatIsWrong(t *testing.T) {
	groups, errs := meet(t, Hello{Group: "worker", From: 0, Size: 2}, Hello{Group: "worker", From: 1, Size: 2})
	require.Equal(t, []error{nil, nil}, errs)
	groups[1].count = 4 // it has been at barriers that the other knows nothing of
	var all errgroup.Group
	all.Go(func() error { return groups[1].Barrier(t.Context()) })
	require.EqualError(t, groups[0].Barrier(t.Context()), "gloo: member 1 is at barrier 5 as number 1, and this one at 1")
	require.Error(t, all.Wait())
	groups[1].Close()
	require.ErrorContains(t, groups[0].Barrier(t.Context()), "gloo: member 1 of 2 does not come to barrier 2")
	groups[0].Close()
}

func TestMembersOfAnotherGroup(t *testing.T) {
	for want, second := range map[string]Hello{
		"wrong job: worker of b:1 comes to worker of a:1":                        {Group: "worker", From: 1, Size: 2, Job: "b:1"},
		"wrong world size: member 1 reckons with 3 members, and member 0 with 2": {Group: "worker", From: 1, Size: 3, Job: "a:1"},
	} {
		_, errs := meet(t, Hello{Group: "worker", From: 0, Size: 2, Job: "a:1"}, second)
		require.ErrorContains(t, errs[0], want)
		require.ErrorContains(t, errs[1], want, "who is refused is told why")
	}
	g := &Group{members: make([]*member, 3)}
	own := Hello{Group: "worker", From: 1, Size: 3}
	for _, from := range []int{0, 1, 3} {
		require.ErrorContains(t, g.fits(Hello{Group: "worker", From: from, Size: 3}, own), "wrong rank: member")
	}
	require.NoError(t, g.fits(Hello{Group: "worker", From: 2, Size: 3}, own))
	g.members[2] = &member{}
	require.ErrorContains(t, g.fits(Hello{Group: "worker", From: 2, Size: 3}, own), "wrong rank: member 2 of 3 comes to member 1")
	(&Group{}).Close()
	require.NoError(t, (&Group{}).Barrier(t.Context()), "where gloo is off there is nobody to wait for")
}
