// SPDX-License-Identifier: Apache-2.0

package collective

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/paddle-volcano/paddle-volcano/test/trainer/process"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/wire"
)

// Place is a rank's place, as its environment or its launcher gave it.
type Place struct {
	Rank int
	// Endpoints are all ranks' in the order of their ranks.
	Endpoints []string
	// Round tells the rings of an elastic job apart.
	Round int64
}

// Join closes the ring: it connects to the next rank, and waits for the one before.
func Join(ctx context.Context, p *process.Process, place Place) (*Ring, error) {
	r := &Ring{rank: place.Rank, world: len(place.Endpoints), deadline: p.Net.Deadline}
	if r.world < 2 {
		return r, nil
	}
	if err := wire.EachOnce(place.Endpoints); err != nil {
		return nil, fmt.Errorf("wrong world: %w", err)
	}
	listener, err := p.Net.Listen(ctx, place.Endpoints[place.Rank])
	if err != nil {
		return nil, err
	}
	defer func() { _ = listener.Close() }()
	own := hello{From: place.Rank, Endpoints: place.Endpoints, Round: place.Round, Settings: p.Settings(), Steps: p.Options.Steps}
	limited, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	failed := make(chan error, 2)
	go func() { failed <- r.connect(limited, p.Net, own) }()
	go func() { failed <- r.accept(limited, listener, own) }()
	for range 2 {
		if err := <-failed; err != nil {
			cancel(err) // the other ends too
		}
	}
	for _, conn := range []net.Conn{r.next, r.prev} {
		if conn != nil {
			r.close = append(r.close, wire.Bind(ctx, conn))
		}
	}
	if err := context.Cause(limited); err != nil {
		r.Close()
		if ctx.Err() == nil {
			err = LostError{err}
		}
		return nil, err
	}
	return r, nil
}

// connect greets the next rank.
func (r *Ring) connect(ctx context.Context, network *wire.Net, own hello) error {
	to := (r.rank + 1) % r.world
	what := fmt.Sprintf("rank %d", to)
	return network.Await(ctx, fmt.Sprintf("%s at %s", what, own.Endpoints[to]), func(ctx context.Context) error {
		conn, err := network.DialOnce(ctx, own.Endpoints[to])
		if err != nil {
			return err
		}
		defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
		out := gob.NewEncoder(conn)
		var answer string
		if err = out.Encode(own); err == nil {
			err = gob.NewDecoder(conn).Decode(&answer)
		}
		switch {
		case err != nil:
			return errors.Join(fmt.Errorf("%s does not answer: %w", what, err), conn.Close())
		case answer != welcome:
			_ = conn.Close()
			return wire.FinalError{Err: fmt.Errorf("%s refuses rank %d: %s", what, r.rank, answer)}
		}
		r.next, r.out = conn, out
		return nil
	})
}

const (
	welcome = "welcome"
	// greeting is how long one stranger may keep others waiting.
	greeting = 5 * time.Second
)

// accept waits for the rank before, and refuses whoever is not.
func (r *Ring) accept(ctx context.Context, listener net.Listener, own hello) error {
	limited, cancel := context.WithTimeout(ctx, r.deadline)
	defer cancel()
	defer context.AfterFunc(limited, func() { _ = listener.Close() })()
	before := (r.rank + r.world - 1) % r.world
	var refused error
	for {
		conn, err := listener.Accept()
		if err != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return errors.Join(fmt.Errorf("rank %d has not come within %s", before, r.deadline), refused)
		}
		_ = conn.SetDeadline(time.Now().Add(min(r.deadline, greeting))) // a closed connection says so when it is used
		in := gob.NewDecoder(conn)
		var heard hello
		if err = in.Decode(&heard); err == nil {
			answer := welcome
			if refused = heard.fits(own, before); refused != nil {
				answer = refused.Error()
			}
			err = gob.NewEncoder(conn).Encode(answer)
		}
		if err == nil && refused == nil {
			r.prev, r.in = conn, in
			return nil
		}
		_ = conn.Close()
		if refused != nil && heard.Round == own.Round {
			return refused
		}
	}
}
