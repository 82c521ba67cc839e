// SPDX-License-Identifier: Apache-2.0

package collective

import (
	"context"
	"encoding/gob"
	"fmt"
	"net"
	"time"

	"github.com/paddle-volcano/paddle-volcano/test/trainer/model"
)

// Ring is one rank's place in a ring: it sends to the next rank and hears from the one before.
type Ring struct {
	rank, world int
	deadline    time.Duration
	next, prev  net.Conn
	out         *gob.Encoder
	in          *gob.Decoder
	count       int
	close       []func()
}

// LostError says that a neighbour has gone, or never came.
type LostError struct{ Err error }

func (e LostError) Error() string { return e.Err.Error() }
func (e LostError) Unwrap() error { return e.Err }

// message is what goes round.
type message struct {
	// Count is the number of the message since the ring was closed: all ranks count alike.
	Count  int
	Values []int64
	State  *model.State
}

// Close ends the connections.
func (r *Ring) Close() {
	for _, end := range r.close {
		end()
	}
}

// exchange sends to the next rank while it hears from the one before. Where one of them has gone the ring is of no more
// use, and the other neighbour is to know.
func (r *Ring) exchange(ctx context.Context, sent message) (heard message, err error) {
	r.count++
	sent.Count = r.count
	ends := make(chan error, 2)
	go func() { ends <- r.send(sent) }()
	go func() {
		var err error
		heard, err = r.hear()
		ends <- err
	}()
	for range 2 {
		if end := <-ends; end != nil && err == nil {
			err = end
			_, _ = r.next.Close(), r.prev.Close()
		}
	}
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return heard, err
}

func (r *Ring) send(m message) error {
	_ = r.next.SetWriteDeadline(time.Now().Add(r.deadline)) // a closed connection says so when it is used
	if err := r.out.Encode(m); err != nil {
		return LostError{fmt.Errorf("rank %d cannot send to rank %d: %w", r.rank, (r.rank+1)%r.world, err)}
	}
	return nil
}

func (r *Ring) hear() (message, error) {
	var heard message
	_ = r.prev.SetReadDeadline(time.Now().Add(r.deadline)) // a closed connection says so when it is used
	before := (r.rank + r.world - 1) % r.world
	if err := r.in.Decode(&heard); err != nil {
		return heard, LostError{fmt.Errorf("rank %d hears nothing from rank %d: %w", r.rank, before, err)}
	}
	if heard.Count != r.count {
		return heard, fmt.Errorf("rank %d is out of step: its message %d comes as number %d", before, heard.Count, r.count)
	}
	return heard, nil
}

// Sum adds up the values of all ranks, in place: each chunk goes once round the ring while it grows, and once round when
// it is whole.
func (r *Ring) Sum(ctx context.Context, values []int64) error {
	chunk := func(i int) []int64 {
		i = (i%r.world + r.world) % r.world
		return values[i*len(values)/r.world : (i+1)*len(values)/r.world]
	}
	for step := range 2 * (r.world - 1) {
		heard, err := r.exchange(ctx, message{Values: chunk(r.rank - step)})
		if err != nil {
			return err
		}
		into := chunk(r.rank - step - 1)
		if len(heard.Values) != len(into) {
			return fmt.Errorf("wrong sum: a chunk of %d values where %d belong", len(heard.Values), len(into))
		}
		for i, value := range heard.Values {
			if step < r.world-1 {
				value += into[i]
			}
			into[i] = value
		}
	}
	return nil
}

// Spread takes one rank's state to all.
func (r *Ring) Spread(ctx context.Context, from int, state model.State) (model.State, error) {
	for range r.world - 1 {
		heard, err := r.exchange(ctx, message{State: &state})
		if err != nil {
			return state, err
		}
		if r.rank != from {
			state = *heard.State
		}
	}
	return state, nil
}
