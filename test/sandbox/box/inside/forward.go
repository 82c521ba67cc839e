// SPDX-License-Identifier: Apache-2.0

package inside

import (
	"fmt"
	"io"
	"net"
	"os"
	"strconv"

	"github.com/paddle-volcano/paddle-volcano/test/sandbox/box"
)

// forward leads connections from the listeners outside, and from addresses inside, to programs inside.
func (s *server) forward() error {
	for i, port := range s.settings.Ports {
		file := os.NewFile(uintptr(box.SocketFD+1+i), "listener")
		listener, err := net.FileListener(file)
		if err != nil {
			return fmt.Errorf("forward port %d: %w", port, err)
		}
		file.Close() //nolint:errcheck // the listener has its own copy
		go lead(listener, net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	}
	for from, to := range s.settings.Forward {
		listener, err := net.Listen("tcp", from)
		if err != nil {
			return fmt.Errorf("forward %s: %w", from, err)
		}
		go lead(listener, to)
	}
	return nil
}

// lead accepts connections as long as the box lives.
func lead(listener net.Listener, to string) {
	for {
		from, err := listener.Accept()
		if err != nil {
			fmt.Fprintf(os.Stderr, "box: %s is not forwarded any more: %v\n", to, err)
			return
		}
		go join(from, to)
	}
}

// join copies both ways; a target that does not listen closes the connection.
func join(from net.Conn, to string) {
	defer from.Close() //nolint:errcheck // the other side has seen the end
	target, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	defer target.Close() //nolint:errcheck // as above
	done := make(chan struct{})
	go func() {
		pour(target, from)
		close(done)
	}()
	pour(from, target)
	<-done
}

// pour copies until one side ends, and closes the other.
func pour(to, from net.Conn) {
	io.Copy(to, from) //nolint:errcheck // both ends see it themselves
	if half, ok := to.(*net.TCPConn); ok {
		half.CloseWrite() //nolint:errcheck // it may be closed already
	}
}
