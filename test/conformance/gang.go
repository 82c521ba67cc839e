// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	"github.com/paddle-volcano/paddle-volcano/test/conformance/rules"
)

// Mode is how a job trains.
type Mode string

// Modes of a job.
const (
	PS         Mode = "PS"
	Collective Mode = "Collective"
	Single     Mode = "Single"
	Elastic    Mode = "Elastic"
)

// Pod is the environment of Paddle's processes in one pod, and their expected role.
type Pod struct {
	Name string
	// Role is Server, Trainer or HeterTrainer, and Index the pod's number within it.
	Role  string
	Index int
	Env   map[string]string
	// IP is what the pod's own host name resolves to.
	IP string
}

// Gang is all pods of one job.
type Gang struct {
	Mode Mode
	Pods []Pod
	// Resolve returns the names of the pods to which a host resolves.
	Resolve func(host string) []string
	// direct says that each process is started by `python train.py` in parameter-server training, never by the launcher.
	direct bool
	// command is what each pod runs, with a Paddle of the release, and frontEnd the version of a front end in it. Without a command
	// it is each of the releases' launchers in turn, without arguments.
	command, frontEnd string
	release           rules.Release
	// ranks is the last ranking of the nodes.
	ranks string
}

// Ranks of nodes.
const (
	byIndex   = "index"
	byArrival = "arrival"
)

// Direct leaves the launcher out where it cannot work: pods that share a host, of which it would start all.
func (g *Gang) Direct() *Gang {
	g.direct = true
	return g
}

// NewGang reads a Volcano Job's pods as they are once all of them have an IP: their variables as the kubelet resolves
// them, their names as the cluster's DNS does. Tasks named ps, pserver or server are servers.
func NewGang(mode Mode, pods []*corev1.Pod, services []*corev1.Service, lookup func(configMap string) (map[string]string, bool)) (*Gang, error) {
	gang := &Gang{Mode: mode}
	for _, pod := range pods {
		env, err := Environment(pod, lookup)
		if err != nil {
			return nil, err
		}
		role := rules.Trainer
		if slices.Contains([]string{"ps", "pserver", "server"}, pod.Labels[vcbatch.TaskSpecKey]) {
			role = rules.Server
		}
		if pod.Labels[vcbatch.TaskSpecKey] == "heter" {
			role = rules.HeterTrainer
		}
		index, err := strconv.Atoi(pod.Labels[vcbatch.TaskIndex])
		if err != nil {
			return nil, fmt.Errorf("pod %s has no index in label %s: %w", pod.Name, vcbatch.TaskIndex, err)
		}
		gang.Pods = append(gang.Pods, Pod{Name: pod.Name, Role: role, Index: index, Env: env, IP: pod.Status.PodIP})
		gang.Resolve = func(host string) []string { return Resolve(host, pod.Namespace, pods, services) }
	}
	return gang, nil
}

// Check returns everything that keeps the pods from training together as one job, each named with the pod that meets it.
func (g *Gang) Check() error {
	servers, trainers, heter := g.role(rules.Server), g.role(rules.Trainer), g.role(rules.HeterTrainer)
	problems := &problems{}
	for _, pods := range [][]Pod{servers, trainers, heter} {
		for i := range pods {
			if pods[i].Index != i {
				problems.add(&pods[i], "the gang is not whole: it is number %d of its role, and stands at place %d", pods[i].Index, i)
			}
		}
	}
	switch {
	case g.Mode == PS && (len(servers) == 0 || len(trainers) == 0):
		problems.add(nil, "a job in mode PS needs servers and trainers: it has %d and %d", len(servers), len(trainers))
	case g.Mode != PS && len(servers) > 0:
		problems.add(nil, "a job in mode %s has no servers: this one has %d", g.Mode, len(servers))
	case g.Mode != PS && len(heter) > 0:
		problems.add(nil, "a job in mode %s has no heterogeneous trainers: this one has %d", g.Mode, len(heter))
	case g.Mode == Collective && len(trainers) < 2, g.Mode == Single && len(trainers) != 1:
		problems.add(nil, "mode %s does not fit %d trainers", g.Mode, len(trainers))
	}
	if len(*problems) > 0 {
		return errors.Join(*problems...)
	}
	g.checkPorts(problems)
	switch g.Mode {
	case PS:
		g.checkPS(servers, trainers, heter, problems)
	case Elastic:
		for _, release := range g.releases() {
			g.checkElastic(release, trainers, problems)
		}
	default:
		g.checkCollective(trainers, problems)
	}
	return errors.Join(*problems...)
}

// CheckCommand returns what Check returns when each pod runs a command, which frontEnd names a version for, with a Paddle of one
// release; and how the nodes are ranked then: by "index", or by "arrival" behind worker 0.
func (g *Gang) CheckCommand(command, frontEnd string, release rules.Release) (ranks string, err error) {
	run := *g
	run.command, run.frontEnd, run.release = command, frontEnd, release
	err = run.Check()
	return run.ranks, err
}

// releases returns those whose launchers are judged. Elastic training by variables works since V26.
func (g *Gang) releases() []rules.Release {
	all := rules.Releases()
	switch {
	case g.release != "":
		return []rules.Release{g.release}
	case g.Mode == Elastic:
		return all[slices.Index(all, rules.V26):]
	}
	return all
}

// read follows a pod's command to the launcher.
func (g *Gang) read(pod *Pod) (rules.Command, error) {
	if g.command == "" {
		return rules.Command{Env: pod.Env, Place: -1}, nil
	}
	return rules.ReadCommand(g.command, pod.Env, pod.IP, g.frontEnd)
}

// launch concludes what the launcher does that a pod's command starts, with the command.
func (g *Gang) launch(pod *Pod, release rules.Release) (rules.Launcher, rules.Command, error) {
	command, err := g.read(pod)
	if err != nil {
		return rules.Launcher{}, command, err
	}
	if command.Direct {
		return rules.Launcher{}, command, fmt.Errorf("%w, or fails: no launcher gives it PADDLE_CURRENT_ENDPOINT", rules.ErrNotDistributed)
	}
	launcher, err := rules.Launch(command.Env, pod.IP, release, command.Arguments...)
	if err == nil && command.Place >= 0 && command.Place != launcher.Rank {
		err = fmt.Errorf("the launcher has rank %d, and the program takes itself for node %d", launcher.Rank, command.Place)
	}
	return launcher, command, err
}

// role returns the pods of a role in the order of their indices.
func (g *Gang) role(role string) []Pod {
	pods := slices.DeleteFunc(slices.Clone(g.Pods), func(p Pod) bool { return p.Role != role })
	slices.SortFunc(pods, func(a, b Pod) int { return cmp.Or(cmp.Compare(a.Index, b.Index), cmp.Compare(a.Name, b.Name)) })
	return pods
}

// leads adds a problem unless the host resolves to the pod and to no other.
func (g *Gang) leads(host string, to, seenBy *Pod, what string, problems *problems) {
	if found := g.Resolve(host); len(found) != 1 || found[0] != to.Name {
		problems.add(seenBy, "%s is at host %s, which must lead to pod %s alone and leads to %v", what, host, to.Name, found)
	}
}

// reaches adds a problem unless the host leads to the pod's address alone, which is its node's with intranet Host.
func (g *Gang) reaches(host string, to, seenBy *Pod, what string, problems *problems) {
	found := g.Resolve(host)
	for i := range g.Pods {
		if other := &g.Pods[i]; other.IP == to.IP && other.Name != to.Name {
			found = slices.DeleteFunc(found, func(name string) bool { return name == other.Name })
		}
	}
	if len(found) != 1 || found[0] != to.Name {
		problems.add(seenBy, "%s is at host %s, which must lead to pod %s alone and leads to %v", what, host, to.Name, found)
	}
}

// problems gathers what is wrong, in a fixed order.
type problems []error

func (p *problems) add(pod *Pod, format string, args ...any) {
	err := fmt.Errorf(format, args...)
	if pod != nil {
		err = fmt.Errorf("%s: %w", pod.Name, err)
	}
	*p = append(*p, err)
}
