// SPDX-License-Identifier: Apache-2.0

package gloo

import (
	"context"
	"encoding/gob"
	"fmt"
	"net"
	"time"

	"github.com/paddle-volcano/paddle-volcano/test/trainer/wire"
)

// Group is connected to every other member of a group. The zero group has no other.
type Group struct {
	rank, size int
	deadline   time.Duration
	members    []*member
	count      int
}

type member struct {
	conn  net.Conn
	in    *gob.Decoder
	out   *gob.Encoder
	close func()
}

// token is what members tell each other at a barrier.
type token struct{ From, Count int }

// Close ends the connections.
func (g *Group) Close() {
	for _, m := range g.members {
		if m != nil {
			m.close()
		}
	}
}

// Barrier waits until all members have come to it.
func (g *Group) Barrier(ctx context.Context) error {
	g.count++
	for rank, m := range g.members {
		if m == nil {
			continue
		}
		_ = m.conn.SetDeadline(time.Now().Add(g.deadline)) // a closed connection says so when it is used
		if err := m.out.Encode(token{From: g.rank, Count: g.count}); err != nil {
			return g.lost(ctx, rank, err)
		}
	}
	for rank, m := range g.members {
		if m == nil {
			continue
		}
		var heard token
		if err := m.in.Decode(&heard); err != nil {
			return g.lost(ctx, rank, err)
		}
		if heard.From != rank || heard.Count != g.count {
			return fmt.Errorf("gloo: member %d is at barrier %d as number %d, and this one at %d", rank, heard.Count, heard.From, g.count)
		}
	}
	return nil
}

func (g *Group) lost(ctx context.Context, rank int, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return fmt.Errorf("gloo: member %d of %d does not come to barrier %d: %w", rank, g.size, g.count, err)
}

func newMember(ctx context.Context, conn net.Conn, in *gob.Decoder, out *gob.Encoder) *member {
	return &member{conn: conn, in: in, out: out, close: wire.Bind(ctx, conn)}
}
