// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/command"
)

// terminal is a pseudo terminal of so many columns and lines: what is written to it can be read as it changes.
type terminal struct {
	slave *os.File
	mu    sync.Mutex
	text  strings.Builder
}

func newTerminal(t *testing.T, columns, lines uint16) *terminal {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	require.NoError(t, err)
	fd := int(master.Fd())
	require.NoError(t, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0))
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	require.NoError(t, err)
	term := &terminal{}
	term.slave, err = os.OpenFile("/dev/pts/"+strconv.Itoa(number), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	require.NoError(t, unix.IoctlSetWinsize(int(term.slave.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: columns, Row: lines}))
	go func() {
		buffer := make([]byte, 4096)
		for {
			n, err := master.Read(buffer)
			term.mu.Lock()
			term.text.Write(buffer[:n])
			term.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() { _ = term.slave.Close(); _ = master.Close() })
	return term
}

// shows is the last whole picture on the terminal.
func (term *terminal) shows() string {
	term.mu.Lock()
	defer term.mu.Unlock()
	pictures := strings.Split(term.text.String(), "\x1b[H")
	if len(pictures) < 2 {
		return ""
	}
	return pictures[len(pictures)-2]
}

func TestTopOnATerminal(t *testing.T) {
	t.Parallel()
	u := user{namespace: cluster.Namespace(t), stdin: manifest("resnet", 2, "cpu: 1")}
	term := newTerminal(t, 60, 10)
	ctx, stop := context.WithCancelCause(t.Context())
	defer stop(nil)
	ended := make(chan int, 1)
	go func() {
		args := []string{"--kubeconfig", cluster.Kubeconfig(), "--namespace", u.namespace, "top"}
		ended <- command.Run(ctx, args, genericiooptions.IOStreams{In: strings.NewReader(""), Out: term.slave, ErrOut: term.slave})
	}()
	showing := func(words ...string) {
		t.Helper()
		cluster.Await(t, fmt.Sprintf("the terminal to show %q", words), func(context.Context) error {
			for _, word := range words {
				if text := term.shows(); !strings.Contains(text, word) {
					return fmt.Errorf("it shows %q", text)
				}
			}
			return nil
		})
	}
	showing("NAME", "PHASE")
	u.run(t, "submit", "-f", "-")
	showing("resnet", "Running", "worker 2/2")
	for range 12 {
		// Suspended, since jobs that wait take the room in the queue that other tests want.
		u.stdin = strings.ReplaceAll(manifest("x", 1, "cpu: 1", "  runPolicy: {suspend: true}\n"), "name: x", "generateName: x-")
		u.run(t, "submit", "-f", "-")
	}
	showing("... and 6 more: kubectl paddle list")
	for line := range strings.Lines(term.shows()) {
		line = strings.NewReplacer("\x1b[K", "", "\x1b[J", "", "\r", "", "\n", "").Replace(line)
		require.LessOrEqual(t, len([]rune(line)), 60, line)
	}
	stop(errors.New("interrupt signal received")) // as Ctrl-C does
	require.Zero(t, <-ended)
}
