// SPDX-License-Identifier: Apache-2.0

package ps

import (
	"bytes"
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/test/conformance/rules"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/model"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/process"
)

func TestSessionLetsNobodyIn(t *testing.T) {
	own := Hello{Role: rules.Server, Index: 0, Servers: []string{"a:1", "b:1"}, World: 2, Settings: settings, Steps: 9}
	good := Hello{Role: rules.Trainer, Index: 1, Server: 0, Servers: []string{"a:1", "b:1"}, World: 2, Settings: settings, Steps: 9}
	for want, spoil := range map[string]func(*Hello){
		"wrong address: TRAINER 1 looks for server 1, and this is server 0":      func(h *Hello) { h.Server = 1 },
		"wrong number of servers: TRAINER 1 reckons with 1, and server 0 with 2": func(h *Hello) { h.Servers = h.Servers[:1] },
		"wrong servers: TRAINER 1 knows [b:1 a:1], and server 0 [a:1 b:1]":       func(h *Hello) { h.Servers = []string{"b:1", "a:1"} },
		"wrong world size: TRAINER 1 reckons with 3 trainers, and server 0 with": func(h *Hello) { h.World = 3 },
		"wrong rank: TRAINER 2 of 2 trainers":                                    func(h *Hello) { h.Index = 2 },
		"wrong rank: TRAINER -1 of 2 trainers":                                   func(h *Hello) { h.Index = -1 },
		"wrong role: PSERVER 1 is no client of a server":                         func(h *Hello) { h.Role = rules.Server },
		"wrong training: TRAINER 1 has {Seed:3 Batch:8} and 8 steps":             func(h *Hello) { h.Steps = 8 },
		"wrong training: TRAINER 1 has {Seed:4 Batch:8} and 9 steps":             func(h *Hello) { h.Settings.Seed = 4 },
	} {
		var out bytes.Buffer
		session := &Session{ctx: t.Context(), process: &process.Process{Out: &out}, shard: NewShard(0, 2, 2, settings, 1), own: own}
		bad := good
		spoil(&bad)
		require.ErrorContains(t, session.Hello(bad, &Welcome{}), want)
		require.Contains(t, out.String(), "refused: "+want)
		require.ErrorIs(t, session.Push(Push{}, new(Nothing)), errStranger)
		require.ErrorIs(t, session.Pull(0, &Version{}), errStranger)
		require.ErrorIs(t, session.Ready(true, &Welcome{}), errStranger)
		require.ErrorIs(t, session.Done(true, new(Nothing)), errStranger)
		require.ErrorContains(t, session.Start(model.NewState(settings), new(Nothing)), "only trainer 0 brings parameters")
		session.left()
		require.NotContains(t, out.String(), "has gone")
	}
}

func TestSessionKnowsItsClient(t *testing.T) {
	own := Hello{Role: rules.Server, World: 2, Settings: settings}
	join := func(shard *Shard, role string, index int) (*Session, *bytes.Buffer) {
		var out bytes.Buffer
		session := &Session{ctx: t.Context(), process: &process.Process{Out: &out}, shard: shard, own: own}
		require.NoError(t, session.Hello(Hello{Role: role, Index: index, World: 2, Settings: settings}, &Welcome{}))
		return session, &out
	}
	shard := NewShard(0, 1, 2, settings, 1)
	second, said := join(shard, rules.Trainer, 1)
	require.ErrorContains(t, second.Start(model.NewState(settings), new(Nothing)), "only trainer 0")
	first, _ := join(shard, rules.Trainer, 0)
	require.NoError(t, first.Start(model.NewState(settings), new(Nothing)))
	theirs := push(t, shard, 0, 0, model.Middle)
	require.ErrorContains(t, second.Push(theirs, new(Nothing)), "a trainer pushes its own gradients only")
	heter, _ := join(shard, rules.HeterTrainer, 5)
	require.NoError(t, heter.Push(theirs, new(Nothing)), "whoever computes the middle pushes it for a trainer")
	require.ErrorIs(t, heter.Done(true, new(Nothing)), errStranger)
	second.left()
	require.Contains(t, said.String(), "TRAINER 1 has gone before it was done")
	said.Reset()
	require.NoError(t, second.Done(true, new(Nothing)))
	second.left()
	require.Empty(t, said.String())
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	first.ctx = ended
	first.left()
	require.NoError(t, first.Done(true, new(Nothing)))
	require.ErrorIs(t, shard.AllDone(ended), context.Canceled, "it has not hung up yet")
	first.left()
	require.NoError(t, shard.AllDone(t.Context()))
}

func ended(all chan struct{}) bool {
	select {
	case <-all:
		return true
	default:
		return false
	}
}

func TestMiddlesLetNobodyIn(t *testing.T) {
	all := []string{"c:1", "d:1"}
	m := &Middles{role: &rules.PSRole{Index: 1, Workers: 2, Heter: &rules.HeterRole{All: all}}, all: make(chan struct{}), done: map[int]bool{}}
	good := Hello{Role: rules.Trainer, Index: 1, Server: 1, Servers: all, World: 2}
	require.NoError(t, m.Hello(good, new(Nothing)))
	for want, spoil := range map[string]func(*Hello){
		"wrong rank: PSERVER 1 of 2 trainers":                                                   func(h *Hello) { h.Role = rules.Server },
		"wrong rank: TRAINER 2 of 2 trainers":                                                   func(h *Hello) { h.Index = 2 },
		"wrong world size: trainer 1 reckons with 3 trainers":                                   func(h *Hello) { h.World = 3 },
		"wrong address: trainer 1 looks for heterogeneous trainer 0, and this is 1":             func(h *Hello) { h.Server = 0 },
		"wrong world: trainer 1 knows the heterogeneous trainers [c:1], and number 1 [c:1 d:1]": func(h *Hello) { h.Servers = all[:1] },
	} {
		bad := good
		spoil(&bad)
		require.ErrorContains(t, m.Hello(bad, new(Nothing)), want)
	}
	(&MiddleSession{Middles: m}).left()
	for _, rank := range []int{0, 0, 1, 1} {
		session := &MiddleSession{Middles: m}
		require.NoError(t, session.Done(rank, new(Nothing)))
		require.Equal(t, rank == 1 && m.done[1], ended(m.all), "not before it has hung up")
		session.left()
	}
	require.True(t, ended(m.all))
}
