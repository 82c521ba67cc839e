// SPDX-License-Identifier: Apache-2.0

package conformance

import "github.com/paddle-volcano/paddle-volcano/test/conformance/rules"

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
