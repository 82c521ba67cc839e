// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"slices"
	"strings"

	"github.com/paddle-volcano/paddle-volcano/test/conformance/rules"
)

// checkPS judges parameter-server training started by `python train.py`, and started by the launcher where the
// variables for it are there.
func (g *Gang) checkPS(servers, trainers, heter []Pod, problems *problems) {
	var list []string
	g.ranks = byIndex
	all := slices.Concat(servers, trainers, heter)
	for _, pod := range all {
		role, err := rules.PSRoleMaker(pod.Env)
		if err != nil {
			problems.add(&pod, "role maker: %w", err)
			continue
		}
		if role.Role != pod.Role {
			problems.add(&pod, "takes itself for a %s, and is a %s", role.Role, pod.Role)
		}
		if role.Index != pod.Index {
			problems.add(&pod, "takes itself for number %d, and is number %d of its role", role.Index, pod.Index)
		}
		if role.Workers != len(trainers) {
			problems.add(&pod, "reckons with %d trainers, and there are %d", role.Workers, len(trainers))
		}
		if list == nil {
			list = role.Servers
			g.checkEndpoints("PADDLE_PSERVERS_IP_PORT_LIST", list, servers, &pod, problems)
		} else if !slices.Equal(list, role.Servers) {
			problems.add(&pod, "has another list of servers than the first: %v, not %v", role.Servers, list)
		}
		if role.Trainers != nil {
			checkTrainerList(role, trainers, &pod, problems)
		}
		g.checkHeter(&pod, role, trainers, heter, problems)
		g.checkPSGloo(&pod, role, all, problems)
		g.checkPSLaunch(&pod, role, all, problems)
	}
	agree(all, problems, "PADDLE_WITH_GLOO", "PADDLE_GLOO_RENDEZVOUS", "PADDLE_GLOO_HTTP_ENDPOINT")
}

// checkEndpoints checks that each endpoint of a list resolves to the pod at its position, and to no other.
func (g *Gang) checkEndpoints(name string, list []string, pods []Pod, seenBy *Pod, problems *problems) {
	if len(list) != len(pods) {
		problems.add(seenBy, "%s has %d entries for %d pods: %v", name, len(list), len(pods), list)
		return
	}
	for i, endpoint := range list {
		if slices.Index(list, endpoint) != i {
			problems.add(seenBy, "%s stands in %s twice: %v", endpoint, name, list)
			continue
		}
		host, port, err := rules.SplitEndpoint(endpoint)
		if err != nil {
			problems.add(seenBy, "%s: %w", name, err)
			continue
		}
		g.listens(host, port, &pods[i], seenBy, "an entry of "+name, problems)
	}
}

// checkTrainerList judges PADDLE_TRAINER_ENDPOINTS, by whose entries Fleet 2.0 and the CTR family know the trainers.
func checkTrainerList(role rules.PSRole, trainers []Pod, pod *Pod, problems *problems) {
	if len(role.Trainers) != len(trainers) {
		problems.add(pod, "PADDLE_TRAINER_ENDPOINTS has %d entries for %d trainers", len(role.Trainers), len(trainers))
		return
	}
	if role.Role == rules.Trainer && pod.Index < len(role.Trainers) && role.Trainers[pod.Index] != role.Endpoint {
		problems.add(pod, "is %s (POD_IP:PADDLE_PORT) to itself and %s to the others, in PADDLE_TRAINER_ENDPOINTS", role.Endpoint, role.Trainers[pod.Index])
	}
}

func (g *Gang) checkPSGloo(pod *Pod, role rules.PSRole, all []Pod, problems *problems) {
	gloo, err := rules.PSGloo(pod.Env, role)
	if err != nil {
		problems.add(pod, "gloo: %w", err)
		return
	}
	if gloo.HTTP {
		g.checkRendezvous(gloo.Host, gloo.Port, "gloo's rendezvous", pod, all, problems)
	}
}

// checkRendezvous checks where server 0 serves gloo: at its own host, and at a port that no other process there needs.
func (g *Gang) checkRendezvous(host string, port int, what string, pod *Pod, all []Pod, problems *problems) {
	at := slices.IndexFunc(all, func(p Pod) bool { return p.Role == rules.Server && p.Index == 0 })
	if found := g.Resolve(host); !slices.Contains(found, all[at].Name) {
		problems.add(pod, "%s, which server 0 serves, is at host %s, which leads to %v and not to %s", what, host, found, all[at].Name)
	}
	for i := range all {
		other := &all[i]
		if other.IP == all[at].IP && other.uses(port) {
			problems.add(pod, "%s %s:%d is on the port that %s needs for itself", what, host, port, other.Name)
		}
	}
}

// checkPSLaunch checks the launcher in parameter-server training: each pod must start its own process and no other. The
// launcher does not support heterogeneous trainers.
func (g *Gang) checkPSLaunch(pod *Pod, role rules.PSRole, all []Pod, problems *problems) {
	for _, release := range g.releases() {
		launcher, command, err := g.launch(pod, release)
		asked := g.command != ""
		switch {
		case g.direct, command.Direct, !asked && (!launcher.PS || pod.Role == rules.HeterTrainer):
			continue
		case err != nil:
			problems.add(pod, "launcher, %s: %w", release, err)
			continue
		case !launcher.PS:
			problems.add(pod, "launcher, %s: starts collective training", release)
			continue
		case launcher.Direct:
			continue
		}
		want := rules.Launcher{Servers: []string{role.Endpoint}}
		if pod.Role == rules.Trainer {
			want = rules.Launcher{Trainers: []string{role.Endpoint}}
		}
		if !slices.Equal(launcher.Servers, want.Servers) || !slices.Equal(launcher.Trainers, want.Trainers) {
			problems.add(pod, "launcher, %s: starts servers %v and trainers %v, and is %s", release, launcher.Servers, launcher.Trainers, role.Endpoint)
		}
		if launcher.Gloo != "" {
			host, port, err := rules.SplitEndpoint(launcher.Gloo)
			if err != nil {
				problems.add(pod, "launcher, %s: gloo: %w", release, err)
				continue
			}
			g.checkRendezvous(host, port, "the launcher's gloo", pod, all, problems)
		}
	}
}

// agree adds a problem for each variable that is not the same in all pods.
func agree(pods []Pod, problems *problems, names ...string) {
	for _, name := range names {
		want, has := pods[0].Env[name]
		for i := range pods {
			if value, ok := pods[i].Env[name]; value != want || ok != has {
				problems.add(&pods[i], "%s is %q here and %q in %s", name, value, want, pods[0].Name)
			}
		}
	}
}

// checkHeter judges the pipeline of trainers and heterogeneous trainers as each process sees it.
func (g *Gang) checkHeter(pod *Pod, role rules.PSRole, trainers, heter []Pod, problems *problems) {
	seen := role.Heter
	switch {
	case len(heter) == 0 && seen == nil:
		return
	case len(heter) == 0:
		problems.add(pod, "takes the job for a heterogeneous one: PADDLE_ALL_HETER_TRAINER_IP_PORT_LIST is %v", seen.All)
		return
	case seen == nil:
		problems.add(pod, "knows nothing of the %d heterogeneous trainers", len(heter))
		return
	}
	g.checkEndpoints("PADDLE_ALL_HETER_TRAINER_IP_PORT_LIST", seen.All, heter, pod, problems)
	// Releases 2.0 and 2.1 read this list, and take a device from its own variable.
	g.checkEndpoints("PADDLE_HETER_TRAINER_IP_PORT_LIST", split(pod.Env["PADDLE_HETER_TRAINER_IP_PORT_LIST"]), heter, pod, problems)
	if device := pod.Env["PADDLE_HETER_TRAINER_DEVICE"]; !slices.Contains([]string{"cpu", "gpu", "xpu"}, device) {
		problems.add(pod, "PADDLE_HETER_TRAINER_DEVICE is %q, not cpu, gpu or xpu", device)
	}
	if pod.Role == rules.Server {
		return
	}
	if want := []int{len(trainers), len(heter)}; seen.Stages != 2 || !slices.Equal(seen.Trainers, want) {
		problems.add(pod, "reckons with %d stages of %v processes, and there are 2 of %v", seen.Stages, seen.Trainers, want)
	}
	stage := 1
	if pod.Role == rules.HeterTrainer {
		stage = 2
		g.checkEndpoints("PADDLE_PREVIOUS_HETER_TRAINER_IP_PORT_LIST", seen.Previous, trainers, pod, problems)
	} else {
		g.checkEndpoints("PADDLE_NEXT_HETER_TRAINER_IP_PORT_LIST", seen.Next, heter, pod, problems)
	}
	if seen.Stage != stage {
		problems.add(pod, "takes itself for a process of stage %d, and is of stage %d", seen.Stage, stage)
	}
}

// split returns a list without entries where the variable is not set.
func split(list string) []string {
	if list == "" {
		return nil
	}
	return strings.Split(list, ",")
}
