// SPDX-License-Identifier: Apache-2.0

package conformance

import "slices"

// checkPS judges parameter-server training started by `python train.py`, and started by the launcher where the
// variables for it are there.
func (g *Gang) checkPS(servers, trainers []Pod, problems *problems) {
	var list []string
	for _, pod := range slices.Concat(servers, trainers) {
		role, err := PSRoleMaker(pod.Env)
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
			g.checkServerList(list, servers, &pod, problems)
		} else if !slices.Equal(list, role.Servers) {
			problems.add(&pod, "has another list of servers than the first: %v, not %v", role.Servers, list)
		}
		if role.Trainers != nil {
			checkTrainerList(role, trainers, &pod, problems)
		}
		g.checkPSGloo(&pod, role, servers, trainers, problems)
		checkPSLaunch(&pod, role, problems)
	}
	agree(slices.Concat(servers, trainers), problems, "PADDLE_WITH_GLOO", "PADDLE_GLOO_RENDEZVOUS", "PADDLE_GLOO_HTTP_ENDPOINT")
}

func (g *Gang) checkServerList(list []string, servers []Pod, seenBy *Pod, problems *problems) {
	if len(list) != len(servers) {
		problems.add(seenBy, "PADDLE_PSERVERS_IP_PORT_LIST has %d entries for %d servers: %v", len(list), len(servers), list)
		return
	}
	for i, endpoint := range list {
		if slices.Index(list, endpoint) != i {
			problems.add(seenBy, "server %s stands in PADDLE_PSERVERS_IP_PORT_LIST twice: %v", endpoint, list)
			continue
		}
		host, _, err := splitEndpoint(endpoint)
		if err != nil {
			problems.add(seenBy, "PADDLE_PSERVERS_IP_PORT_LIST: %w", err)
			continue
		}
		g.leads(host, &servers[i], seenBy, "a server", problems)
	}
}

// checkTrainerList judges PADDLE_TRAINER_ENDPOINTS, by whose entries Fleet 2.0 and the CTR family know the trainers.
func checkTrainerList(role PSRole, trainers []Pod, pod *Pod, problems *problems) {
	if len(role.Trainers) != len(trainers) {
		problems.add(pod, "PADDLE_TRAINER_ENDPOINTS has %d entries for %d trainers", len(role.Trainers), len(trainers))
		return
	}
	if role.Role == Trainer && pod.Index < len(role.Trainers) && role.Trainers[pod.Index] != role.Endpoint {
		problems.add(pod, "is %s (POD_IP:PADDLE_PORT) to itself and %s to the others, in PADDLE_TRAINER_ENDPOINTS", role.Endpoint, role.Trainers[pod.Index])
	}
}

func (g *Gang) checkPSGloo(pod *Pod, role PSRole, servers, trainers []Pod, problems *problems) {
	gloo, err := PSGloo(pod.Env, role)
	if err != nil {
		problems.add(pod, "gloo: %w", err)
		return
	}
	if !gloo.HTTP {
		return
	}
	g.leads(gloo.Host, &servers[0], pod, "gloo's rendezvous, which server 0 serves,", problems)
	endpoint := pod.Env["PADDLE_GLOO_HTTP_ENDPOINT"]
	for _, other := range slices.Concat(servers, trainers) {
		if other.Env["POD_IP"]+":"+other.Env["PADDLE_PORT"] == endpoint {
			problems.add(pod, "gloo's rendezvous %s is on the port that %s needs for itself", endpoint, other.Name)
		}
	}
}

// checkPSLaunch judges the launcher in parameter-server training: each pod is to start itself and nobody else.
func checkPSLaunch(pod *Pod, role PSRole, problems *problems) {
	for _, release := range Releases() {
		launcher, err := Launch(pod.Env, pod.IP, release)
		if !launcher.PS {
			continue
		}
		if err != nil {
			problems.add(pod, "launcher, %s: %w", release, err)
			continue
		}
		want := Launcher{Servers: []string{role.Endpoint}}
		if pod.Role == Trainer {
			want = Launcher{Trainers: []string{role.Endpoint}}
		}
		if !slices.Equal(launcher.Servers, want.Servers) || !slices.Equal(launcher.Trainers, want.Trainers) {
			problems.add(pod, "launcher, %s: starts servers %v and trainers %v, and is %s", release, launcher.Servers, launcher.Trainers, role.Endpoint)
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
