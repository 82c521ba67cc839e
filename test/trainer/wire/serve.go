// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"context"
	"net"
	"sync"
)

// Serve handles each connection until the context is done, closes them all and waits for their handlers.
func Serve(ctx context.Context, listener net.Listener, handle func(context.Context, net.Conn)) {
	var handlers sync.WaitGroup
	defer handlers.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = listener.Close() })
	defer stop()
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		handlers.Add(1)
		go func() {
			defer handlers.Done()
			own, cancel := context.WithCancel(ctx)
			defer cancel()
			defer Bind(own, conn)()
			handle(own, conn)
		}()
	}
}

// Bind closes a connection as soon as the context is done; the function that it returns closes it now.
func Bind(ctx context.Context, conn net.Conn) (closeNow func()) {
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	return func() {
		stop()
		_ = conn.Close()
	}
}
