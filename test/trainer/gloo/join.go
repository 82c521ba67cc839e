// SPDX-License-Identifier: Apache-2.0

package gloo

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/paddle-volcano/paddle-volcano/test/trainer/store"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/wire"
)

// Hello is what a member says to one of lower rank. All but From must be the same in both.
type Hello struct {
	Group string
	From  int
	Size  int
	// Job is text that all members of a job have alike.
	Job string
}

// join meets all members through the store: each leaves its address there, and connects to those of lower rank.
func join(ctx context.Context, network *wire.Net, client *store.Client, own Hello, host string) (*Group, error) {
	g := &Group{rank: own.From, size: own.Size, deadline: network.Deadline, members: make([]*member, own.Size)}
	endpoint, err := network.Free(ctx, host, 0, 0)
	if err != nil {
		return nil, err
	}
	listener, err := network.Listen(ctx, endpoint)
	if err != nil {
		return nil, err
	}
	defer func() { _ = listener.Close() }()
	if err := client.Put(ctx, fmt.Sprintf("%s/%d", own.Group, own.From), endpoint); err != nil {
		return nil, err
	}
	for rank := range own.From {
		if g.members[rank], err = dial(ctx, network, client, own, rank); err != nil {
			g.Close()
			return nil, err
		}
	}
	if err := g.accept(ctx, listener, own); err != nil {
		g.Close()
		return nil, err
	}
	return g, nil
}

func dial(ctx context.Context, network *wire.Net, client *store.Client, own Hello, rank int) (*member, error) {
	endpoint, err := client.Get(ctx, fmt.Sprintf("%s/%d", own.Group, rank))
	if err != nil {
		return nil, err
	}
	conn, err := network.Dial(ctx, fmt.Sprintf("member %d", rank), endpoint)
	if err != nil {
		return nil, err
	}
	m := newMember(ctx, conn, gob.NewDecoder(conn), gob.NewEncoder(conn))
	_ = conn.SetDeadline(time.Now().Add(network.Deadline)) // a closed connection says so when it is used
	var answer string
	if err = m.out.Encode(own); err == nil {
		err = m.in.Decode(&answer)
	}
	if err == nil && answer != "" {
		err = errors.New(answer)
	}
	if err != nil {
		m.close()
		return nil, fmt.Errorf("member %d at %s: %w", rank, endpoint, err)
	}
	return m, nil
}

// accept waits for the members of higher rank.
func (g *Group) accept(ctx context.Context, listener net.Listener, own Hello) error {
	limited, cancel := context.WithTimeout(ctx, g.deadline)
	defer cancel()
	defer context.AfterFunc(limited, func() { _ = listener.Close() })()
	for missing := g.size - g.rank - 1; missing > 0; missing-- {
		conn, err := listener.Accept()
		if err != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return fmt.Errorf("%d members of %d have not come within %s", missing, g.size, g.deadline)
		}
		_ = conn.SetDeadline(time.Now().Add(g.deadline)) // a closed connection says so when it is used
		m := newMember(ctx, conn, gob.NewDecoder(conn), gob.NewEncoder(conn))
		var heard Hello
		answer := ""
		if err = m.in.Decode(&heard); err == nil {
			if refused := g.fits(heard, own); refused != nil {
				answer, err = refused.Error(), refused
			}
			err = errors.Join(err, m.out.Encode(answer))
		}
		if err != nil {
			m.close()
			return err
		}
		g.members[heard.From] = m
	}
	return nil
}

func (g *Group) fits(heard, own Hello) error {
	switch {
	case heard.Group != own.Group || heard.Job != own.Job:
		return fmt.Errorf("wrong job: %s of %s comes to %s of %s", heard.Group, heard.Job, own.Group, own.Job)
	case heard.Size != own.Size:
		return fmt.Errorf("wrong world size: member %d reckons with %d members, and member %d with %d", heard.From, heard.Size, own.From, own.Size)
	case heard.From <= own.From || heard.From >= own.Size || g.members[heard.From] != nil:
		return fmt.Errorf("wrong rank: member %d of %d comes to member %d", heard.From, heard.Size, own.From)
	}
	return nil
}
