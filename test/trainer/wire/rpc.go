// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/rpc"
)

// ServeRPC offers a connection's own receiver under a name, until one side closes it.
func ServeRPC(conn net.Conn, name string, receiver any) error {
	server := rpc.NewServer()
	if err := server.RegisterName(name, receiver); err != nil {
		return err
	}
	server.ServeConn(conn)
	return nil
}

// Client calls one peer.
type Client struct {
	what  string
	rpc   *rpc.Client
	close func()
}

// Call connects to a peer that errors call what; the connection ends with the context.
func (n *Net) Call(ctx context.Context, what, endpoint string) (*Client, error) {
	conn, err := n.Dial(ctx, what, endpoint)
	if err != nil {
		return nil, err
	}
	return &Client{what: fmt.Sprintf("%s at %s", what, endpoint), rpc: rpc.NewClient(conn), close: Bind(ctx, conn)}, nil
}

// Close ends the connection.
func (c *Client) Close() {
	_ = c.rpc.Close() // it may have ended already
	c.close()
}

// Do calls a method and waits for the answer.
func (c *Client) Do(ctx context.Context, method string, args, reply any) error {
	select {
	case call := <-c.rpc.Go(method, args, reply, make(chan *rpc.Call, 1)).Done:
		var refused rpc.ServerError
		switch {
		case call.Error == nil:
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.As(call.Error, &refused):
			return fmt.Errorf("%s: %w", c.what, call.Error)
		case errors.Is(call.Error, io.ErrUnexpectedEOF), errors.Is(call.Error, rpc.ErrShutdown):
			return fmt.Errorf("%s has gone", c.what)
		}
		return fmt.Errorf("%s has gone: %w", c.what, call.Error)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
