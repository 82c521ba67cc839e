// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"errors"
	"slices"

	"github.com/paddle-volcano/paddle-volcano/test/conformance/rules"
)

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
