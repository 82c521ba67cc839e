// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"errors"
	"fmt"
	"slices"

	"github.com/paddle-volcano/paddle-volcano/test/conformance/rules"
)

// checkCollective judges collective training, and training on one node, started by the launcher of each release and by
// `python train.py`.
func (g *Gang) checkCollective(trainers []Pod, problems *problems) {
	for _, release := range g.releases() {
		g.checkLaunch(release, trainers, problems)
	}
	for i := range trainers {
		pod := &trainers[i]
		// The launcher hands PADDLE_TRAINING_ROLE on to the processes that it starts.
		role, err := rules.CollectiveRoleMaker(pod.Env)
		if err != nil {
			problems.add(pod, "role maker: %w", err)
			continue
		}
		if role.Rank != pod.Index {
			problems.add(pod, "role maker: takes itself for rank %d, and is number %d", role.Rank, pod.Index)
		}
		if role.World != len(trainers) {
			problems.add(pod, "role maker: the world is %d processes, and there are %d pods", role.World, len(trainers))
		}
		if _, err := rules.CollectiveGloo(pod.Env, role); err != nil {
			problems.add(pod, "gloo: %w", err)
		}
	}
}

// checkLaunch lets all launchers meet, as HTTPMaster.sync_peers does. Those of V22 work the nodes out, each for itself.
func (g *Gang) checkLaunch(release rules.Release, trainers []Pod, problems *problems) {
	launchers, environments := make([]rules.Launcher, len(trainers)), make([]map[string]string, len(trainers))
	var masters []*Pod
	for i := range trainers {
		pod := &trainers[i]
		launcher, command, err := g.launch(pod, release)
		switch {
		case errors.Is(err, rules.ErrNotDistributed) && len(trainers) == 1:
			return
		case err != nil:
			problems.add(pod, "launcher, %s: %w", release, err)
			return
		case launcher.PS:
			problems.add(pod, "launcher, %s: starts parameter-server training", release)
			return
		}
		launchers[i], environments[i] = launcher, command.Env
		if launcher.Nodes != len(trainers) {
			problems.add(pod, "launcher, %s: waits for %d nodes, and there are %d (nodes are counted by their distinct hosts)", release, launcher.Nodes, len(trainers))
		}
		if launcher.StartsMaster && !slices.ContainsFunc(masters, func(p *Pod) bool { return p.IP == pod.IP }) { // one of a node's listens
			masters = append(masters, pod)
		}
	}
	g.ranks = byIndex
	if launchers[0].Rank == rules.ByArrival {
		g.ranks = byArrival
	}
	switch {
	case len(trainers) < 2:
	case launchers[0].Hosts != nil:
		g.checkHosts(release, launchers, trainers, problems)
	case len(masters) != 1:
		problems.add(nil, "launcher, %s: exactly one node must start the master, and %d do", release, len(masters))
	default:
		g.checkMaster(release, masters[0], launchers, environments, trainers, problems)
	}
}

// checkMaster judges where the nodes meet, and how they are ranked.
func (g *Gang) checkMaster(release rules.Release, master *Pod, launchers []rules.Launcher, environments []map[string]string, trainers []Pod, problems *problems) {
	for i := range trainers {
		pod, launcher := &trainers[i], &launchers[i]
		if launcher.Master != launchers[0].Master || launcher.Master == "" {
			problems.add(pod, "launcher, %s: looks for the master at %q, and %s at %q", release, launcher.Master, trainers[0].Name, launchers[0].Master)
			continue
		}
		host, port, _ := rules.SplitEndpoint(launcher.Master)
		g.reaches(host, master, pod, fmt.Sprintf("launcher, %s: the master", release), problems)
		g.reaches(launcher.Host, pod, pod, fmt.Sprintf("launcher, %s: the node, by the address that it sends to the others,", release), problems)
		switch {
		case (launcher.Rank == rules.ByArrival) != (g.ranks == byArrival):
			problems.add(pod, "launcher, %s: either all nodes are given a rank or none is", release)
		case launcher.Rank != rules.ByArrival && launcher.Rank != pod.Index:
			problems.add(pod, "launcher, %s: takes rank %d, and is number %d", release, launcher.Rank, pod.Index)
		}
		// The list of endpoints has the port of the launcher itself. Another master's must be free.
		if _, listed := environments[i]["PADDLE_TRAINER_ENDPOINTS"]; !listed && slices.ContainsFunc(g.Pods, func(p Pod) bool { return p.IP == master.IP && p.uses(port) }) {
			problems.add(pod, "launcher, %s: the master, %s, is on a port that a pod at %s needs for itself", release, launcher.Master, master.IP)
		}
		// init_parallel_env opens the store of the processes there before V26, and rank 0 serves it.
		if store := environments[i]["MASTER_ADDR"]; store != "" && release < rules.V26 {
			g.leads(store, &trainers[0], pod, fmt.Sprintf("launcher, %s: the processes' store", release), problems)
			if store+":"+environments[i]["MASTER_PORT"] == launcher.Master {
				problems.add(pod, "launcher, %s: Address already in use: the processes' store is at the master's port, %s", release, launcher.Master)
			}
		}
	}
}

// checkHosts judges what each launcher of V22 takes for the nodes: it works their endpoints out from its own.
func (g *Gang) checkHosts(release rules.Release, launchers []rules.Launcher, trainers []Pod, problems *problems) {
	ports := map[int]bool{}
	for i := range trainers {
		pod, launcher := &trainers[i], &launchers[i]
		ports[launcher.FirstPort] = true
		if launcher.Rank != pod.Index {
			problems.add(pod, "launcher, %s: takes rank %d, and is number %d", release, launcher.Rank, pod.Index)
			continue
		}
		g.leads(launcher.Hosts[launcher.Rank], pod, pod, fmt.Sprintf("launcher, %s: the node", release), problems)
	}
	if len(ports) > 1 {
		problems.add(nil, "launcher, %s: the nodes reckon with %d first ports, and must with one", release, len(ports))
	}
}

// checkElastic lets the launchers that are there meet in etcd.
func (g *Gang) checkElastic(release rules.Release, trainers []Pod, problems *problems) {
	if len(trainers) == 0 {
		problems.add(nil, "an elastic job needs workers, and has none")
		return
	}
	var first rules.ElasticLauncher
	g.ranks = byArrival
	for i := range trainers {
		pod := &trainers[i]
		command, err := g.read(pod)
		if err == nil && command.Direct {
			err = rules.ErrNotDistributed
		}
		var launcher rules.ElasticLauncher
		if err == nil {
			launcher, err = rules.ElasticLaunch(command.Env, pod.IP, release, command.Arguments...)
		}
		if err != nil {
			problems.add(pod, "elastic launcher: %w", err)
			return
		}
		if i == 0 {
			first = launcher
		}
		if same := first; launcher.Etcd != same.Etcd || launcher.Job != same.Job || launcher.Least != same.Least || launcher.Most != same.Most {
			problems.add(pod, "elastic launcher: looks for job %s of %d to %d nodes at %s, and %s for job %s of %d to %d at %s",
				launcher.Job, launcher.Least, launcher.Most, launcher.Etcd, trainers[0].Name, same.Job, same.Least, same.Most, same.Etcd)
		}
		if launcher.Job == "default" {
			problems.add(pod, "elastic launcher: meets every other job that gave no id")
		}
		if !launcher.RestartsItself {
			problems.add(pod, "elastic launcher: ends when one of its processes ends")
		}
		if found := g.Resolve(launcher.Host); len(found) == 0 {
			problems.add(pod, "elastic launcher: sends the others host %s, which leads nowhere", launcher.Host)
		}
		if _, err := rules.CollectiveRoleMaker(pod.Env); err != nil {
			problems.add(pod, "role maker: %w", err)
		}
	}
	if n := len(trainers); n < first.Least || n > first.Most {
		problems.add(nil, "elastic launchers train with %d to %d nodes, and there are %d", first.Least, first.Most, n)
	}
}
