// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func network(deadline time.Duration, hosts map[string][]string) *Net {
	return &Net{IP: "127.8.0.1", Deadline: deadline, Resolve: func(_ context.Context, host string) ([]string, error) {
		if found, ok := hosts[host]; ok {
			return found, nil
		}
		return nil, errors.New("no such host")
	}}
}

func TestAwait(t *testing.T) {
	n := network(300*time.Millisecond, nil)
	tries := 0
	patient := network(time.Minute, nil)
	require.NoError(t, patient.Await(t.Context(), "it", func(context.Context) error {
		if tries++; tries < 3 {
			return errors.New("not yet")
		}
		return nil
	}))
	require.Equal(t, 3, tries)

	err := n.Await(t.Context(), "it", func(context.Context) error { return errors.New("not yet") })
	require.ErrorContains(t, err, "it: not within ")
	require.ErrorContains(t, err, ": not yet")

	err = n.Await(t.Context(), "it", func(ctx context.Context) error {
		if tries++; tries == 4 {
			return errors.New("the reason")
		}
		<-ctx.Done()
		return ctx.Err()
	})
	require.ErrorContains(t, err, ": the reason", "the last attempt, which the deadline cut off, hides nothing")

	final := errors.New("never")
	require.ErrorIs(t, n.Await(t.Context(), "it", func(context.Context) error { return FinalError{final} }), final)

	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("told to end"))
	require.EqualError(t, n.Await(ctx, "it", func(context.Context) error { return errors.New("not yet") }), "it: told to end")
}

func TestListen(t *testing.T) {
	n := network(300*time.Millisecond, map[string][]string{"own.job": {"127.8.0.1"}, "other.job": {"127.8.0.2"}, "both.job": {"127.8.0.2", "127.8.0.1"}, "none.job": nil})
	for endpoint, want := range map[string]string{
		"127.8.0.1:36000": "", "own.job:36000": "", "both.job:36000": "",
		"other.job:36000": "other.job leads to [127.8.0.2], and this process is at 127.8.0.1",
		"none.job:36000":  "none.job leads nowhere",
		"gone.job:36000":  "the own endpoint gone.job:36000: not within ",
		"own.job":         "missing port",
		"own.job:99999":   "invalid port",
	} {
		listener, err := n.Listen(t.Context(), endpoint)
		if want != "" {
			require.ErrorContains(t, err, want, endpoint)
			continue
		}
		require.NoError(t, err, endpoint)
		require.Equal(t, "127.8.0.1:36000", listener.Addr().String())
		require.NoError(t, listener.Close())
	}
	unknown := &Net{Deadline: time.Second}
	listener, err := unknown.Listen(t.Context(), "whatever.job:0")
	require.NoError(t, err, "who does not know its address cannot compare it")
	require.NoError(t, listener.Close())
}

func TestFree(t *testing.T) {
	n := network(300*time.Millisecond, map[string][]string{"own.job": {"127.8.0.1"}})
	first, err := n.Free(t.Context(), "own.job", 36100, 36101)
	require.NoError(t, err)
	require.Equal(t, "own.job:36100", first)
	second, err := n.Free(t.Context(), "own.job", 36100, 36101)
	require.NoError(t, err)
	require.Equal(t, "own.job:36101", second, "the first is kept")
	_, err = n.Free(t.Context(), "own.job", 36100, 36101)
	require.ErrorContains(t, err, "no port from 36100 to 36101 is free at 127.8.0.1")
	listener, err := n.Listen(t.Context(), first)
	require.NoError(t, err)
	require.NoError(t, listener.Close())
	n.Close()
	again, err := n.Free(t.Context(), "own.job", 36100, 36101)
	require.NoError(t, err, "what was not used is free again")
	require.Equal(t, first, again)
	n.Close()
}

type echo struct{ left chan<- string }

func (e *echo) Say(text string, answer *string) error {
	if text == "" {
		return errors.New("nothing to say")
	}
	*answer = strings.ToUpper(text)
	return nil
}

// Hang never answers.
func (e *echo) Hang(text string, _ *string) error {
	e.left <- text
	select {}
}

func TestCalls(t *testing.T) {
	n := network(5*time.Second, map[string][]string{"own.job": {"127.8.0.1"}})
	listener, err := n.Listen(t.Context(), "own.job:36200")
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	hangs := make(chan string, 1)
	go Serve(ctx, listener, func(_ context.Context, conn net.Conn) { _ = ServeRPC(conn, "Echo", &echo{hangs}) })
	client, err := n.Call(t.Context(), "the echo", "own.job:36200")
	require.NoError(t, err)
	defer client.Close()
	var answer string
	require.NoError(t, client.Do(t.Context(), "Echo.Say", "word", &answer))
	require.Equal(t, "WORD", answer)
	require.EqualError(t, client.Do(t.Context(), "Echo.Say", "", &answer), "the echo at own.job:36200: nothing to say")

	own, cancel := context.WithCancelCause(t.Context())
	go func() {
		<-hangs
		cancel(errors.New("no time"))
	}()
	require.EqualError(t, client.Do(own, "Echo.Hang", "x", &answer), "no time")
	stop()
	require.ErrorContains(t, client.Do(t.Context(), "Echo.Say", "word", &answer), "the echo at own.job:36200 has gone")
	require.Eventually(t, func() bool {
		conn, err := net.Dial("tcp", "127.8.0.1:36200")
		if err == nil {
			_ = conn.Close()
		}
		return err != nil
	}, time.Minute, 10*time.Millisecond, "nobody listens any more")
}

func TestBind(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	one, other := net.Pipe()
	defer Bind(ctx, one)()
	cancel()
	_, err := other.Read(make([]byte, 1))
	require.ErrorIs(t, err, io.EOF)
}

func TestEachOnce(t *testing.T) {
	require.NoError(t, EachOnce([]string{"a:1", "b:1", "a:2"}))
	require.EqualError(t, EachOnce([]string{"a:1", "b:1", "a:1"}), "a:1 stands twice in [a:1 b:1 a:1]")
	require.ErrorContains(t, EachOnce([]string{"a"}), "missing port")
}
