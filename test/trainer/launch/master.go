// SPDX-License-Identifier: Apache-2.0

package launch

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/paddle-volcano/paddle-volcano/test/conformance/rules"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/process"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/store"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/wire"
)

// node is what a launcher tells the others.
type node struct {
	// Rank is the one it was given, or rules.ByArrival.
	Rank     int
	Endpoint string
	// Master says that the others meet at this node.
	Master bool
}

// meet waits for the launchers of all nodes at the master. The function that it returns waits until the master has
// stopped, once the context is done.
func meet(ctx context.Context, p *process.Process, launcher *rules.Launcher, own string) (at place, end func(), err error) {
	stopped := make(chan struct{})
	end = func() { <-stopped }
	if launcher.StartsMaster {
		if launcher.Master == "" { // made up, and so nobody else will come
			if launcher.Master, err = p.Net.Free(ctx, launcher.Host, 0, 0); err != nil {
				return at, nil, err
			}
		}
		listener, err := p.Net.Listen(ctx, launcher.Master)
		if err != nil {
			return at, nil, fmt.Errorf("launcher: the master: %w", err)
		}
		go func() {
			defer close(stopped)
			store.Serve(ctx, listener)
		}()
	} else {
		close(stopped)
	}
	client := store.NewClient(p.Net, "the master", launcher.Master)
	defer client.Close()
	text, err := json.Marshal(node{Rank: launcher.Rank, Endpoint: own, Master: launcher.StartsMaster})
	if err == nil {
		err = client.Put(ctx, "nodes/"+own, string(text))
	}
	if err == nil {
		var nodes map[string]string
		nodes, err = client.Folder(ctx, "nodes", func(nodes map[string]string) error { return enough(len(nodes), launcher.Nodes) })
		if err == nil {
			at, err = sort(nodes, own)
		}
	}
	if err != nil {
		return at, nil, fmt.Errorf("launcher: %w", err)
	}
	return at, end, nil
}

func enough(have, want int) error {
	if have > want {
		return wire.FinalError{Err: fmt.Errorf("wrong world size: %d launchers came to the master, and %d nodes were to meet: has one restarted alone?", have, want)}
	}
	if have < want {
		return fmt.Errorf("wrong world size: %d of %d nodes have come to the master", have, want)
	}
	return nil
}

// sort gives each node its rank: the one that it claims; or, where none does, the master's node is the first.
func sort(texts map[string]string, own string) (place, error) {
	var at place
	nodes := make([]node, 0, len(texts))
	given := 0
	for name, text := range texts {
		var n node
		if err := json.Unmarshal([]byte(text), &n); err != nil {
			return at, fmt.Errorf("node %s: %w", name, err)
		}
		if n.Rank != rules.ByArrival {
			given++
		}
		nodes = append(nodes, n)
	}
	if given != 0 && given != len(nodes) {
		return at, fmt.Errorf("wrong rank: %d of %d nodes were given one", given, len(nodes))
	}
	slices.SortFunc(nodes, func(a, b node) int {
		if a.Master != b.Master && given == 0 {
			if a.Master {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Endpoint, b.Endpoint))
	})
	for rank, n := range nodes {
		if given != 0 && n.Rank != rank {
			return at, fmt.Errorf("wrong rank: %s claims rank %d, and rank %d is nobody's or another's", n.Endpoint, n.Rank, rank)
		}
		at.endpoints = append(at.endpoints, n.Endpoint)
	}
	at.rank = slices.Index(at.endpoints, own)
	return at, nil
}
