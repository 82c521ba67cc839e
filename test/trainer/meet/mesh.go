// SPDX-License-Identifier: Apache-2.0

package meet

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/paddle-volcano/paddle-volcano/test/trainer/wire"
)

// LostError reports that another process has gone or has not come.
type LostError struct{ Err error }

func (e LostError) Error() string { return e.Err.Error() }
func (e LostError) Unwrap() error { return e.Err }

// Mesh is a member's connections to hubs. A mesh without hubs is that of a single process.
type Mesh struct {
	mu      sync.Mutex
	clients []*client
}

type client struct {
	what string
	conn net.Conn
	in   *json.Decoder
	out  *json.Encoder
}

// Join connects to the hubs at all endpoints, as a member of a group. Errors call the hub at endpoint i "what i".
func (m *Mesh) Join(ctx context.Context, network *wire.Net, what string, endpoints []string, g Group, rank int) error {
	for i, endpoint := range endpoints {
		if slices.Index(endpoints, endpoint) != i {
			return fmt.Errorf("wrong endpoints: %s is twice in %v", endpoint, endpoints)
		}
	}
	group, asking := errgroup.WithContext(ctx)
	for i, endpoint := range endpoints {
		group.Go(func() error {
			c := &client{what: fmt.Sprintf("%s %d at %s", what, i, endpoint)}
			if err := c.dial(asking, network, endpoint, g, rank); err != nil {
				return err
			}
			context.AfterFunc(ctx, func() { _ = c.conn.Close() })
			m.mu.Lock()
			defer m.mu.Unlock()
			m.clients = append(m.clients, c)
			return nil
		})
	}
	return group.Wait()
}

func (c *client) dial(ctx context.Context, network *wire.Net, endpoint string, g Group, rank int) error {
	err := network.Await(ctx, c.what, func(ctx context.Context) error {
		conn, err := network.DialOnce(ctx, endpoint)
		if err != nil {
			return err
		}
		c.conn, c.in, c.out = conn, json.NewDecoder(conn), json.NewEncoder(conn)
		var answer reply
		answer, err = c.ask(ctx, request{Group: &g, Rank: rank, To: endpoint})
		if err != nil {
			_ = conn.Close() // it is of no use
			if answer.Error != "" && !answer.Retry {
				return wire.FinalError{Err: err}
			}
		}
		return err
	})
	if err != nil && ctx.Err() == nil && !errors.As(err, &wire.FinalError{}) {
		return LostError{err}
	}
	return err
}

// ask sends a request and returns the answer. An answer that is an error is returned as an error too.
func (c *client) ask(ctx context.Context, r request) (answer reply, err error) {
	defer context.AfterFunc(ctx, func() { _ = c.conn.Close() })()
	if err = c.out.Encode(r); err == nil {
		err = c.in.Decode(&answer)
	}
	switch {
	case err != nil && ctx.Err() != nil:
		return answer, context.Cause(ctx)
	case err != nil:
		return answer, LostError{fmt.Errorf("%s has gone: %w", c.what, err)}
	case answer.Error != "":
		err = fmt.Errorf("%s: %s", c.what, answer.Error)
		if answer.Lost {
			err = LostError{err}
		}
	}
	return answer, err
}

// All sends data to all hubs and returns the data of all members. All hubs must answer the same.
func (m *Mesh) All(ctx context.Context, key string, value any) ([]json.RawMessage, error) {
	data, err := json.Marshal(value)
	if err != nil || len(m.clients) == 0 {
		return []json.RawMessage{data}, err
	}
	answers := make([]reply, len(m.clients))
	group, asking := errgroup.WithContext(ctx)
	for i, c := range m.clients {
		group.Go(func() (err error) {
			answers[i], err = c.ask(asking, request{Key: key, Data: data})
			return err
		})
	}
	if err := group.Wait(); err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, err
	}
	for i, answer := range answers[1:] {
		if !slices.EqualFunc(answer.All, answers[0].All, func(a, b json.RawMessage) bool { return bytes.Equal(a, b) }) {
			return nil, fmt.Errorf("wrong data: %s and %s do not have the same of %s", m.clients[0].what, m.clients[i+1].what, key)
		}
	}
	return answers[0].All, nil
}

// Bye announces to all hubs that this member leaves.
func (m *Mesh) Bye() error {
	var err error
	for _, c := range m.clients {
		err = errors.Join(err, c.out.Encode(request{Bye: true}))
	}
	return err
}

// Close ends all connections.
func (m *Mesh) Close() {
	for _, c := range m.clients {
		_ = c.conn.Close() // it may be closed already
	}
}
