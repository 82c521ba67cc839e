// SPDX-License-Identifier: Apache-2.0

package trainer

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/paddle-volcano/paddle-volcano/test/conformance/rules"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/elastic"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/meet"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/process"
)

// launch is `python -m paddle.distributed.launch` of today's Paddle, with the words behind it. What earlier releases conclude is
// tested in test/conformance.
func launch(ctx context.Context, p *process.Process, words ...string) error {
	if _, listed := p.Env["PADDLE_TRAINER_ENDPOINTS"]; !listed && strings.HasPrefix(p.Env["PADDLE_MASTER"], "etcd://") {
		launcher, err := rules.ElasticLaunch(p.Env, p.Net.IP, rules.Newest, words...)
		if err != nil {
			return fmt.Errorf("launcher: %w", err)
		}
		return elastic.Run(ctx, p, &launcher, collective)
	}
	l, err := rules.Launch(p.Env, p.Net.IP, rules.Newest, words...)
	if err != nil {
		return fmt.Errorf("launcher: %w", err)
	}
	if l.PS {
		return launchPS(ctx, p, &l)
	}
	low, high, _ := rules.PortRange(p.Env)
	own, err := p.Net.Free(ctx, l.Host, low, high)
	if err != nil {
		return err
	}
	endpoints := []string{own}
	if l.Nodes > 1 {
		var end func()
		if endpoints, end, err = meetNodes(ctx, p, &l, own); err != nil {
			return fmt.Errorf("launcher: %w", err)
		}
		defer end()
		p.Say("launcher: node %d of %d at %s, the master is %s", slices.Index(endpoints, own), l.Nodes, own, l.Master)
	}
	return trainPy(ctx, p.Child(ofRank(slices.Index(endpoints, own), endpoints)))
}

// ofRank returns the variables of a node's one process.
func ofRank(rank int, endpoints []string) map[string]string {
	return map[string]string{
		"PADDLE_TRAINER_ENDPOINTS": strings.Join(endpoints, ","),
		"PADDLE_CURRENT_ENDPOINT":  endpoints[rank],
		"PADDLE_TRAINER_ID":        strconv.Itoa(rank),
		"PADDLE_TRAINERS_NUM":      strconv.Itoa(len(endpoints)),
	}
}

// launchPS starts the servers and trainers whose endpoints are at the launcher's address. The first that fails ends the others.
func launchPS(ctx context.Context, p *process.Process, l *rules.Launcher) error {
	all := psVariables(p.Env, l)
	if len(all) == 0 {
		return fmt.Errorf("the launcher has nothing to start: no entry of PADDLE_SERVERS_ENDPOINTS=%s or PADDLE_TRAINERS_ENDPOINTS=%s begins with its own address",
			p.Env["PADDLE_SERVERS_ENDPOINTS"], p.Env["PADDLE_TRAINERS_ENDPOINTS"])
	}
	group, ctx := errgroup.WithContext(ctx)
	for _, variables := range all {
		group.Go(func() error { return trainPy(ctx, p.Child(variables)) })
	}
	return group.Wait()
}

// psVariables returns the variables of each server and trainer that the launcher starts.
func psVariables(env map[string]string, l *rules.Launcher) (all []map[string]string) {
	trainers := strings.Split(env["PADDLE_TRAINERS_ENDPOINTS"], ",")
	base := map[string]string{
		"PADDLE_PSERVERS_IP_PORT_LIST": env["PADDLE_SERVERS_ENDPOINTS"],
		"PADDLE_TRAINER_ENDPOINTS":     env["PADDLE_TRAINERS_ENDPOINTS"],
		"PADDLE_TRAINERS_NUM":          strconv.Itoa(len(trainers)),
		"PADDLE_WITH_GLOO":             "0",
	}
	if l.Gloo != "" {
		base["PADDLE_WITH_GLOO"] = cmp.Or(env["PADDLE_WITH_GLOO"], "1") // the launcher's default
		base["PADDLE_GLOO_RENDEZVOUS"], base["PADDLE_GLOO_HTTP_ENDPOINT"] = "3", l.Gloo
	}
	add := func(role, endpoint string) {
		own := maps.Clone(base)
		host, port, _ := strings.Cut(endpoint, ":")
		own["TRAINING_ROLE"], own["POD_IP"], own["PADDLE_PORT"] = role, host, port
		if role == rules.Trainer {
			own["PADDLE_TRAINER_ID"] = strconv.Itoa(slices.Index(trainers, endpoint))
		}
		all = append(all, own)
	}
	for _, endpoint := range l.Servers {
		add(rules.Server, endpoint)
	}
	for _, endpoint := range l.Trainers {
		add(rules.Trainer, endpoint)
	}
	return all
}

// node is what a launcher sends to the others.
type node struct {
	// Rank is the one that the environment gives, or rules.ByArrival.
	Rank     int
	Endpoint string
	// Master reports that the others meet at this node.
	Master bool
}

// meetNodes waits for the launchers of all nodes at the master. The master runs until end is called.
func meetNodes(ctx context.Context, p *process.Process, l *rules.Launcher, own string) (endpoints []string, end func(), err error) {
	end = func() {}
	group := meet.Group{Name: "node", Size: l.Nodes}
	if l.StartsMaster {
		if l.Master == "" { // no other node knows it
			if l.Master, err = p.Net.Free(ctx, l.Host, 0, 0); err != nil {
				return nil, nil, err
			}
		}
		hub, err := meet.Serve(ctx, p.Net, p.Say, "the master", l.Master, group)
		if err != nil {
			return nil, nil, fmt.Errorf("the master: %w", err)
		}
		end = hub.Close
	}
	var mesh meet.Mesh
	defer mesh.Close()
	err = mesh.Join(ctx, p.Net, "the master", []string{l.Master}, group, meet.ByArrival)
	var texts []json.RawMessage
	if err == nil {
		texts, err = mesh.All(ctx, "the master", node{l.Rank, own, l.StartsMaster})
	}
	if err == nil {
		endpoints, err = sortNodes(texts)
	}
	if err == nil {
		err = mesh.Bye()
	}
	if err != nil {
		end()
		return nil, nil, err
	}
	return endpoints, end, nil
}

// sortNodes gives each node its rank: the one that the environment gives; where it gives none, the master's node is 0.
func sortNodes(texts []json.RawMessage) (endpoints []string, err error) {
	nodes := make([]node, len(texts))
	given := 0
	for i, text := range texts {
		if err := json.Unmarshal(text, &nodes[i]); err != nil {
			return nil, fmt.Errorf("node %s: %w", text, err)
		}
		if nodes[i].Rank != rules.ByArrival {
			given++
		}
	}
	if given != 0 && given != len(nodes) {
		return nil, fmt.Errorf("wrong rank: %d of %d nodes were given one", given, len(nodes))
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
			return nil, fmt.Errorf("wrong rank: %s has rank %d, and no other node has rank %d", n.Endpoint, n.Rank, rank)
		}
		endpoints = append(endpoints, n.Endpoint)
	}
	return endpoints, nil
}
