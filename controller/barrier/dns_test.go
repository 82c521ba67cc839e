// SPDX-License-Identifier: Apache-2.0

package barrier

import (
	"bytes"
	"context"
	"encoding/binary"
	"net"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// server is a DNS server of one cluster on a UDP port of this machine.
type server struct {
	conn net.PacketConn

	mu      sync.Mutex
	records map[string]netip.Addr // by name, with a dot at its end
	// asked is called with each question before the answer, and reports whether it is lost.
	asked func(name string) (lost bool)
}

// Parts of the protocol, of RFC 1035.
const (
	headerLength = 12
	typeA        = 1
	answerFlags  = 0x8180 // an answer, recursion asked for and to be had
	noSuchName   = 3
)

func newServer(t *testing.T, asked func(name string) (lost bool)) *server {
	t.Helper()
	conn, err := (&net.ListenConfig{}).ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	require.NoError(t, err)
	s := &server{conn: conn, records: map[string]netip.Addr{}, asked: asked}
	var done sync.WaitGroup
	done.Add(1)
	go func() {
		defer done.Done()
		s.serve()
	}()
	t.Cleanup(func() {
		require.NoError(t, conn.Close())
		done.Wait()
	})
	return s
}

func (s *server) serve() {
	buffer := make([]byte, 4096)
	for {
		n, from, err := s.conn.ReadFrom(buffer)
		if err != nil {
			return // closed
		}
		if reply := s.answer(buffer[:n]); reply != nil {
			_, _ = s.conn.WriteTo(reply, from)
		}
	}
}

// answer reads the one question of a message and answers it.
func (s *server) answer(message []byte) []byte {
	var name strings.Builder
	end := headerLength
	for message[end] != 0 {
		length := int(message[end])
		name.Write(message[end+1 : end+1+length])
		name.WriteByte('.')
		end += 1 + length
	}
	end++
	kind := binary.BigEndian.Uint16(message[end:])
	end += 4

	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asked(name.String()) {
		return nil
	}
	address, known := s.records[name.String()]
	reply := bytes.Clone(message[:end])
	flags, answers := uint16(answerFlags), uint16(0)
	switch {
	case !known:
		flags |= noSuchName
	case kind == typeA:
		answers = 1
		reply = append(reply, 0xC0, headerLength, 0, typeA, 0, 1, 0, 0, 0, 5, 0, 4) // the question's name, class IN, for 5 s
		reply = append(reply, address.AsSlice()...)
	}
	binary.BigEndian.PutUint16(reply[2:], flags)
	for i, count := range []uint16{1, answers, 0, 0} {
		binary.BigEndian.PutUint16(reply[4+2*i:], count)
	}
	return reply
}

func (s *server) add(name, ip string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.records[name+"."] = netip.MustParseAddr(ip)
}

// resolver queries the server, as the machine's queries the cluster's.
func (s *server) resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", s.conn.LocalAddr().String())
	}}
}

// environment is that of wide-worker-1, which is 10.0.0.9.
func environment(name string) (string, bool) {
	value, ok := map[string]string{
		IndexVariable: "1", IPsVariable: "10.0.0.9",
		"PADDLE_PSERVERS_IP_PORT_LIST": "wide-ps-0.wide:36000",
		"PADDLE_TRAINER_ENDPOINTS":     "wide-worker-0.wide:36000,wide-worker-1.wide:36000",
	}[name]
	return value, ok
}

func arguments(timeout time.Duration) []string {
	o := Options{Own: "PADDLE_TRAINER_ENDPOINTS", Timeout: timeout, Peers: []List{{"PADDLE_PSERVERS_IP_PORT_LIST", 1}, {"PADDLE_TRAINER_ENDPOINTS", 2}}}
	return o.Arguments()
}

// The program as it runs in a pod, but for the network: two names are there, and the third comes while it waits.
func TestProgram(t *testing.T) {
	asked := make(chan struct{}, 1000)
	s := newServer(t, func(name string) bool {
		if name == "wide-worker-0.wide." {
			asked <- struct{}{}
		}
		return false
	})
	s.add("wide-ps-0.wide", "10.0.0.1")
	s.add("wide-worker-1.wide", "10.0.0.9")
	var out bytes.Buffer
	code := make(chan int)
	go func() { code <- Main(t.Context(), arguments(time.Minute), environment, s.resolver(), &out) }()
	for range 6 { // three rounds, of two questions each
		<-asked
	}
	s.add("wide-worker-0.wide", "10.0.0.3")
	added := time.Now()
	require.Zero(t, <-code)
	require.Less(t, time.Since(added), 2*time.Second)
	require.Contains(t, out.String(), "paddle-barrier: all of 3 peers are found, after ")
}

func TestProgramFails(t *testing.T) {
	s := newServer(t, func(string) bool { return false })
	s.add("wide-ps-0.wide", "10.0.0.1")
	s.add("wide-worker-0.wide", "10.0.0.3")
	for name, c := range map[string]struct {
		args []string
		own  string // what the pod's name resolves to
		code int
		says string
	}{
		"its name is another pod's": {arguments(50 * time.Millisecond), "10.0.0.4", ExitStale, "paddle-barrier: the name wide-worker-1.wide is that of 10.0.0.4"},
		"wrong arguments":           {[]string{"--own=A"}, "10.0.0.9", ExitWrongCall, "paddle-barrier: --own is \"A\""},
		"wrong variables": {
			(&Options{Own: "A", Peers: []List{{"A", 1}}, Timeout: time.Minute}).Arguments(), "10.0.0.9", ExitWrongCall, "entry 0 of A is \"\"",
		},
		"help":               {[]string{"--help"}, "10.0.0.9", 0, "-timeout"},
		"everything is well": {arguments(time.Minute), "10.0.0.9", 0, "all of 3 peers are found"},
	} {
		t.Run(name, func(t *testing.T) {
			s.add("wide-worker-1.wide", c.own)
			var out bytes.Buffer
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			require.Equal(t, c.code, Main(ctx, c.args, environment, s.resolver(), &out), "%s", out.String())
			require.Contains(t, out.String(), c.says)
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out bytes.Buffer
	require.Equal(t, ExitStopped, Main(ctx, arguments(time.Minute), environment, s.resolver(), &out), "%s", out.String())
}

// A lookup that is lost is repeated soon, and not when the resolver would.
func TestLostPackets(t *testing.T) {
	var questions atomic.Int32
	s := newServer(t, func(string) bool { return questions.Add(1) <= 4 })
	s.add("wide-ps-0.wide", "10.0.0.1")
	lookup := bounded(s.resolver(), 50*time.Millisecond)
	_, err := lookup(t.Context(), "wide-ps-0.wide")
	var timeout *net.DNSError
	require.ErrorAs(t, err, &timeout)
	require.True(t, timeout.IsTimeout)
	require.False(t, timeout.IsNotFound)
	for err != nil {
		_, err = lookup(t.Context(), "wide-ps-0.wide")
	}
	require.Greater(t, questions.Load(), int32(4))
}
