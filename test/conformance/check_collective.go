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
	for _, release := range rules.Releases() {
		g.checkLaunch(release, trainers, problems)
	}
	ports := map[int]bool{}
	for i := range trainers {
		pod := &trainers[i]
		if port := g.checkCloudLaunch(pod, len(trainers), problems); port > 0 {
			ports[port] = true
		}
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
	if len(ports) > 1 {
		// Each works the others' endpoints out from its own.
		problems.add(nil, "launcher, %s: the nodes reckon with %d first ports, and must with one", cloudRelease, len(ports))
	}
}

// checkLaunch lets all launchers meet, as HTTPMaster.sync_peers does.
func (g *Gang) checkLaunch(release rules.Release, trainers []Pod, problems *problems) {
	launchers := make([]rules.Launcher, len(trainers))
	var masters []*Pod
	for i := range trainers {
		pod := &trainers[i]
		launcher, err := rules.Launch(pod.Env, pod.IP, release)
		switch {
		case err != nil:
			problems.add(pod, "launcher, %s: %w", release, err)
			return
		case launcher.PS:
			problems.add(pod, "launcher, %s: starts parameter-server training", release)
			return
		}
		launchers[i] = launcher
		if launcher.Nodes != len(trainers) {
			problems.add(pod, "launcher, %s: waits for %d nodes, and there are %d (nodes are counted by their distinct hosts)", release, launcher.Nodes, len(trainers))
		}
		if launcher.StartsMaster {
			masters = append(masters, pod)
		}
	}
	if len(trainers) < 2 {
		return
	}
	if len(masters) != 1 {
		names := make([]string, 0, len(masters))
		for _, pod := range masters {
			names = append(names, pod.Name)
		}
		problems.add(nil, "launcher, %s: exactly one node must start the master, and %d do: %v", release, len(masters), names)
		return
	}
	given := launchers[0].Rank != rules.ByArrival
	for i := range trainers {
		pod, launcher := &trainers[i], &launchers[i]
		if launcher.Master != launchers[0].Master || launcher.Master == "" {
			problems.add(pod, "launcher, %s: looks for the master at %q, and %s at %q", release, launcher.Master, trainers[0].Name, launchers[0].Master)
			continue
		}
		host, _, _ := rules.SplitEndpoint(launcher.Master)
		g.leads(host, masters[0], pod, fmt.Sprintf("launcher, %s: the master", release), problems)
		g.leads(launcher.Host, pod, pod, fmt.Sprintf("launcher, %s: the node, by what it tells the others,", release), problems)
		switch {
		case (launcher.Rank != rules.ByArrival) != given:
			problems.add(pod, "launcher, %s: either all nodes are given a rank or none is", release)
		case given && launcher.Rank != pod.Index:
			problems.add(pod, "launcher, %s: takes rank %d, and is number %d", release, launcher.Rank, pod.Index)
		}
	}
}

const cloudRelease = "Paddle 2.0 to 2.2"

// checkCloudLaunch judges the launcher before 2.3, which published images still hold, and returns the port at which it
// takes every node's processes to begin, 0 where it trains alone or not at all.
func (g *Gang) checkCloudLaunch(pod *Pod, nodes int, problems *problems) (port int) {
	const release = cloudRelease
	launcher, err := rules.CloudLaunch(pod.Env)
	switch {
	case errors.Is(err, rules.ErrNotDistributed) && nodes == 1:
		return 0
	case err != nil:
		problems.add(pod, "launcher, %s: %w", release, err)
		return 0
	case len(launcher.Hosts) != nodes:
		problems.add(pod, "launcher, %s: reckons with %d nodes, and there are %d", release, len(launcher.Hosts), nodes)
		return 0
	case launcher.Rank != pod.Index:
		problems.add(pod, "launcher, %s: takes rank %d, and is number %d", release, launcher.Rank, pod.Index)
		return 0
	}
	g.leads(launcher.Hosts[launcher.Rank], pod, pod, fmt.Sprintf("launcher, %s: the node", release), problems)
	return launcher.FirstPort
}

// checkElastic lets the launchers that are there meet in etcd.
func (g *Gang) checkElastic(trainers []Pod, problems *problems) {
	if len(trainers) == 0 {
		problems.add(nil, "an elastic job needs workers, and has none")
		return
	}
	var first rules.ElasticLauncher
	for i := range trainers {
		pod := &trainers[i]
		launcher, err := rules.ElasticLaunch(pod.Env, pod.IP)
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
			problems.add(pod, "elastic launcher: ends when a process of its own ends")
		}
		if found := g.Resolve(launcher.Host); len(found) == 0 {
			problems.add(pod, "elastic launcher: tells the others host %s, which leads nowhere", launcher.Host)
		}
		if _, err := rules.CollectiveRoleMaker(pod.Env); err != nil {
			problems.add(pod, "role maker: %w", err)
		}
	}
	if n := len(trainers); n < first.Least || n > first.Most {
		problems.add(nil, "elastic launchers train with %d to %d nodes, and there are %d", first.Least, first.Most, n)
	}
}

// CheckFrontEnds returns everything that keeps the pods from training together as one job when a front end of Paddle's
// starts the launcher in each of them. Those that read RANK give the nodes their ranks; the others leave them to the
// order of arrival.
func (g *Gang) CheckFrontEnds(readsRank bool) error {
	trainers := g.role(rules.Trainer)
	started := slices.Clone(trainers)
	problems := &problems{}
	for i := range started {
		pod := &started[i]
		front, err := rules.StartFrontEnd(pod.Env, readsRank)
		switch {
		case err != nil:
			problems.add(pod, "front end: %w", err)
		case !front.Distributed:
			problems.add(pod, "front end: trains alone, and there are %d pods", len(trainers))
		}
		pod.Env = front.Env
	}
	if len(*problems) > 0 {
		return errors.Join(*problems...)
	}
	for _, release := range frontEndReleases(readsRank) {
		g.checkLaunch(release, started, problems)
		for i := range started {
			g.checkFrontEndMaster(release, &started[i], trainers, problems)
		}
	}
	return errors.Join(*problems...)
}

// frontEndReleases are the launchers that a front end may start: those that read RANK need a Paddle of 2025.
func frontEndReleases(readsRank bool) []rules.Release {
	if readsRank {
		return []rules.Release{rules.Since2023}
	}
	return rules.Releases()
}

// checkFrontEndMaster judges the port at which the nodes meet: no process of a pod at that address may listen there.
func (g *Gang) checkFrontEndMaster(release rules.Release, pod *Pod, trainers []Pod, problems *problems) {
	launcher, err := rules.Launch(pod.Env, pod.IP, release)
	if err != nil {
		return // checkLaunch adds the problem
	}
	host, port, err := rules.SplitEndpoint(launcher.Master)
	if err != nil {
		problems.add(pod, "front end: the master: %w", err)
		return
	}
	for i := range trainers {
		if other := &trainers[i]; slices.Contains(g.Resolve(host), other.Name) && other.uses(port) {
			problems.add(pod, "front end: the master, %s:%d, is on the port that %s needs for itself", host, port, other.Name)
		}
	}
}
