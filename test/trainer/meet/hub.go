// SPDX-License-Identifier: Apache-2.0

package meet

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/paddle-volcano/paddle-volcano/test/trainer/wire"
)

// Hub is where the members of groups meet.
type Hub struct {
	name, endpoint string
	say            func(format string, args ...any)
	deadline       time.Duration
	groups         map[string]*group
	stop           context.CancelFunc
	handlers       sync.WaitGroup
}

// group is one group at a hub.
type group struct {
	Group
	mu   sync.Mutex
	here map[int]bool
	// left is how many members have said goodbye; done is closed when all have.
	left int
	done chan struct{}
	// lost is closed when the first member goes without a goodbye; gone is its rank.
	lost  chan struct{}
	gone  int
	slots map[string]*slot
}

// slot collects the data of one key.
type slot struct {
	data  []json.RawMessage
	count int
	full  chan struct{}
}

// Serve starts a hub at one of the process's own endpoints. The hub ends with the context.
func Serve(ctx context.Context, network *wire.Net, say func(string, ...any), name, endpoint string, groups ...Group) (*Hub, error) {
	listener, err := network.Listen(ctx, endpoint)
	if err != nil {
		return nil, err
	}
	h := &Hub{name: name, endpoint: endpoint, say: say, deadline: network.Deadline, groups: map[string]*group{}}
	for _, g := range groups {
		h.groups[g.Name] = &group{Group: g, here: map[int]bool{}, slots: map[string]*slot{}, done: make(chan struct{}), lost: make(chan struct{})}
	}
	ctx, h.stop = context.WithCancel(ctx)
	context.AfterFunc(ctx, func() { _ = listener.Close() })
	h.handlers.Add(1)
	go func() {
		defer h.handlers.Done()
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			h.handlers.Add(1)
			go func() {
				defer h.handlers.Done()
				defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
				defer func() { _ = conn.Close() }()
				h.handle(ctx, conn)
			}()
		}
	}()
	return h, nil
}

// Close stops the hub and waits until it has stopped.
func (h *Hub) Close() {
	h.stop()
	h.handlers.Wait()
}

// Done waits until all members of a group have said goodbye, or one has gone without.
func (h *Hub) Done(ctx context.Context, name string) error {
	g := h.groups[name]
	select {
	case <-g.done:
		return nil
	case <-g.lost:
		return LostError{fmt.Errorf("%s %d has gone before it was done", name, g.gone)}
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (h *Hub) handle(ctx context.Context, conn net.Conn) {
	in, out := json.NewDecoder(conn), json.NewEncoder(conn)
	_ = conn.SetReadDeadline(time.Now().Add(h.deadline)) // a closed connection fails when it is used
	var hello request
	if in.Decode(&hello) != nil || hello.Group == nil {
		return
	}
	g, rank, refused := h.admit(&hello)
	if refused.Error != "" {
		if !refused.Retry {
			h.say("refused: %s", refused.Error)
		}
		if err := out.Encode(refused); err != nil {
			h.say("cannot tell %s %d: %v", hello.Group.Name, hello.Rank, err)
		}
		return
	}
	h.say("%s %d is here", g.Name, rank)
	err := out.Encode(reply{})
	_ = conn.SetReadDeadline(time.Time{})
	for err == nil {
		var r request
		if err = in.Decode(&r); err != nil {
			break
		}
		if r.Bye {
			g.leave()
			return
		}
		err = out.Encode(g.gather(ctx, rank, r.Key, r.Data, h.deadline))
	}
	if ctx.Err() == nil && g.lose(rank) {
		h.say("%s %d has gone before it was done", g.Name, rank)
	}
}

// admit returns the group and rank of a member, or the reason why it does not belong here.
func (h *Hub) admit(hello *request) (g *group, rank int, refused reply) {
	name, rank := hello.Group.Name, hello.Rank
	g, ok := h.groups[name]
	if !ok {
		return nil, 0, reply{Error: fmt.Sprintf("wrong role: %s %d looks for %s, and %s does not meet any %s", name, rank, hello.To, h.name, name)}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if rank == ByArrival {
		rank = len(g.here)
	}
	who := fmt.Sprintf("%s %d", name, rank)
	switch {
	case hello.Group.Round != g.Round:
		refused = reply{Retry: true, Error: fmt.Sprintf("wrong round: %s is in another round than %s", who, h.name)}
	case hello.To != h.endpoint:
		refused.Error = fmt.Sprintf("wrong address: %s looks for %s, and %s is at %s", who, hello.To, h.name, h.endpoint)
	case hello.Group.Size != g.Size:
		refused.Error = fmt.Sprintf("wrong world size: %s expects %d members, and %s expects %d", who, hello.Group.Size, h.name, g.Size)
	case hello.Group.Job != g.Job:
		refused.Error = fmt.Sprintf("wrong job: %s has %s, and %s has %s", who, hello.Group.Job, h.name, g.Job)
	case rank < 0 || rank >= g.Size:
		refused.Error = fmt.Sprintf("wrong rank: %s comes to %s, and there are %d members", who, h.name, g.Size)
	case g.here[rank]:
		// A round can be tried again before the hub of the attempt before has closed.
		refused = reply{Retry: g.Round != "", Error: fmt.Sprintf("wrong rank: %s comes to %s twice", who, h.name)}
	default:
		g.here[rank] = true
	}
	return g, rank, refused
}

func (g *group) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.left++; g.left == g.Size {
		close(g.done)
	}
}

func (g *group) lose(rank int) (first bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case <-g.lost:
		return false
	default:
	}
	g.gone = rank
	close(g.lost)
	return true
}

// gather adds the data of one member, and waits for that of all others.
func (g *group) gather(ctx context.Context, rank int, key string, data json.RawMessage, deadline time.Duration) reply {
	g.mu.Lock()
	s := g.slots[key]
	if s == nil {
		s = &slot{data: make([]json.RawMessage, g.Size), full: make(chan struct{})}
		g.slots[key] = s
	}
	if s.data[rank] != nil {
		g.mu.Unlock()
		return reply{Error: fmt.Sprintf("wrong rank: %s %d sends %s twice", g.Name, rank, key)}
	}
	s.data[rank] = data
	if s.count++; s.count == g.Size {
		close(s.full)
	}
	g.mu.Unlock()
	select {
	case <-s.full:
		return reply{All: s.data}
	default:
	}
	select {
	case <-s.full:
		return reply{All: s.data}
	case <-g.lost:
		return reply{Lost: true, Error: fmt.Sprintf("%s %d has gone before %s", g.Name, g.gone, key)}
	case <-time.After(deadline):
		return reply{Lost: true, Error: g.missing(s, key, deadline)}
	case <-ctx.Done():
		return reply{Lost: true, Error: "it ends"}
	}
}

// missing names the members that have not sent their data.
func (g *group) missing(s *slot, key string, deadline time.Duration) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	var ranks []int
	for rank, data := range s.data {
		if data == nil {
			ranks = append(ranks, rank)
		}
	}
	return fmt.Sprintf("wrong world size: %d of %d members have come to %s within %s: %s %v is missing", s.count, g.Size, key, deadline, g.Name, ranks)
}
