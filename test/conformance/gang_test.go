// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/test/conformance/rules"
)

// psGang is 2 servers and 3 trainers with gloo, by IP, each variable as Paddle wants it.
func psGang() *Gang {
	common := map[string]string{
		"PADDLE_PSERVERS_IP_PORT_LIST": "10.0.0.1:36000,10.0.0.2:36000",
		"PADDLE_TRAINER_ENDPOINTS":     "10.0.0.11:36000,10.0.0.12:36000,10.0.0.13:36000",
		"PADDLE_TRAINERS_NUM":          "3",
		"PADDLE_PORT":                  "36000",
		"PADDLE_WITH_GLOO":             "1",
		"PADDLE_GLOO_RENDEZVOUS":       "3",
		"PADDLE_GLOO_HTTP_ENDPOINT":    "10.0.0.1:36018",
	}
	g := &Gang{Mode: PS}
	for i, ip := range []string{"10.0.0.1", "10.0.0.2", "10.0.0.11", "10.0.0.12", "10.0.0.13"} {
		pod := Pod{Name: fmt.Sprintf("job-ps-%d", i), Role: rules.Server, Index: i, IP: ip}
		if i > 1 {
			pod = Pod{Name: fmt.Sprintf("job-worker-%d", i-2), Role: rules.Trainer, Index: i - 2, IP: ip}
		}
		pod.Env = maps.Clone(common)
		pod.Env["TRAINING_ROLE"], pod.Env["POD_IP"], pod.Env["PADDLE_TRAINER_ID"] = pod.Role, ip, strconv.Itoa(pod.Index)
		g.Pods = append(g.Pods, pod)
	}
	g.Resolve = g.byIP
	return g
}

// collectiveGang is 3 trainers by IP.
func collectiveGang() *Gang {
	g := &Gang{Mode: Collective}
	for i := range 3 {
		ip := fmt.Sprintf("10.0.0.1%d", i)
		g.Pods = append(g.Pods, Pod{Name: fmt.Sprintf("job-worker-%d", i), Role: rules.Trainer, Index: i, IP: ip, Env: map[string]string{
			"POD_IP": ip, "PADDLE_TRAINER_ID": strconv.Itoa(i), "PADDLE_TRAINING_ROLE": "TRAINER", "TRAINING_ROLE": "TRAINER",
			"PADDLE_TRAINER_ENDPOINTS": "10.0.0.10:36000,10.0.0.11:36000,10.0.0.12:36000", "PADDLE_TRAINERS_NUM": "3",
			"PADDLE_TRAINERS": "10.0.0.10,10.0.0.11,10.0.0.12", "TRAINER_PORTS_NUM": "20", "PADDLE_PORT": "36000",
		}})
	}
	g.Resolve = g.byIP
	return g
}

func singleGang() *Gang {
	g := &Gang{Mode: Single, Pods: []Pod{{Name: "job-worker-0", Role: rules.Trainer, IP: "10.0.0.10", Env: map[string]string{
		"POD_IP": "10.0.0.10", "PADDLE_TRAINER_ID": "0", "PADDLE_TRAINER_ENDPOINTS": "10.0.0.10:36000",
	}}}}
	g.Resolve = g.byIP
	return g
}

// byIP and byName resolve as a cluster does in which every pod has an IP, and a record of its own in the domain "job".
func (g *Gang) byIP(host string) (found []string) {
	for _, pod := range g.Pods {
		if pod.IP == host {
			found = append(found, pod.Name)
		}
	}
	return found
}

func (g *Gang) byName(host string) (found []string) {
	for _, pod := range g.Pods {
		if pod.Name+".job" == host {
			found = append(found, pod.Name)
		}
	}
	return found
}

// rename replaces the pods' IPs in all variables by what name makes of a pod's name.
func (g *Gang) rename(name func(pod string) string) {
	// Backwards, so that 10.0.0.11 is replaced before 10.0.0.1, with which it begins.
	var pairs []string
	for _, pod := range slices.Backward(g.Pods) {
		pairs = append(pairs, pod.IP, name(pod.Name))
	}
	addresses := strings.NewReplacer(pairs...)
	for i := range g.Pods {
		for key, value := range g.Pods[i].Env {
			g.Pods[i].Env[key] = addresses.Replace(value)
		}
	}
}

func (g *Gang) set(name, value string) {
	for i := range g.Pods {
		g.Pods[i].Env[name] = value
	}
}

func (g *Gang) unset(name string) {
	for i := range g.Pods {
		delete(g.Pods[i].Env, name)
	}
}

func dotted(pod string) string { return pod + ".job" }
func short(pod string) string  { return pod }

func TestAWellFormedGangTrains(t *testing.T) {
	for name, gang := range map[string]*Gang{"ps": psGang(), "collective": collectiveGang(), "single": singleGang()} {
		require.NoError(t, gang.Check(), name)
	}
	for name, gang := range map[string]*Gang{"ps": psGang(), "collective": collectiveGang()} {
		gang.rename(dotted)
		gang.Resolve = gang.byName
		require.NoError(t, gang.Check(), "%s by dotted names", name)
	}
	alone := singleGang()
	alone.Pods[0].Env = map[string]string{}
	require.NoError(t, alone.Check(), "one trainer needs no variable at all")
}

func TestTheLauncherMayStartAParameterServerJob(t *testing.T) {
	gang := psGang()
	gang.set("PADDLE_SERVERS_ENDPOINTS", "10.0.0.1:36000,10.0.0.2:36000")
	gang.set("PADDLE_TRAINERS_ENDPOINTS", "10.0.0.11:36000,10.0.0.12:36000,10.0.0.13:36000")
	require.ErrorContains(t, gang.Check(), "job-ps-0: launcher, Paddle 2.3: starts servers [10.0.0.1:36000] and trainers [10.0.0.11:36000",
		"10.0.0.11 begins with 10.0.0.1")
	gang.rename(dotted)
	gang.Resolve = gang.byName
	require.NoError(t, gang.Check(), "a dotted name begins with no other")
	gang.unset("PADDLE_TRAINERS_ENDPOINTS")
	require.ErrorContains(t, gang.Check(), "makes up its own servers and trainers")
}

// testdata/traps.yaml has those of variables alone.
func TestEachTrapIsDetected(t *testing.T) {
	for _, test := range []struct {
		name string
		gang *Gang
		trap func(g *Gang)
		want string
	}{
		{"service names without a dot: nobody starts the master", collectiveGang(), func(g *Gang) {
			g.rename(short)
			g.Resolve = func(host string) []string { return []string{host} }
		}, "exactly one node must start the master, and 0 do"},
		{"paddle-operator's Service mode: names in POD_IP and another port in the list", psGang(), func(g *Gang) {
			g.rename(short)
			g.set("PADDLE_PORT", "41234")
		}, "job-ps-0: role maker: ValueError: the server does not find its own endpoint job-ps-0:41234"},
		{"POD_IP is an IP and the list has names", psGang(), func(g *Gang) {
			g.rename(dotted)
			g.Pods[1].Env["POD_IP"] = "10.0.0.2"
		}, "job-ps-1: role maker: ValueError: the server does not find its own endpoint 10.0.0.2:36000"},
		{"a restarted worker's address is the dead one's", collectiveGang(), func(g *Gang) { g.Pods[0].IP, g.Pods[0].Env["POD_IP"] = "10.0.0.99", "10.0.0.99" },
			"exactly one node must start the master, and 0 do"},
		{"no variable at all: everybody trains alone", collectiveGang(), func(g *Gang) {
			for i := range g.Pods {
				clear(g.Pods[i].Env)
			}
		}, "waits for 1 nodes, and there are 3"},
		{"no variable at all, with servers", psGang(), func(g *Gang) {
			for i := range g.Pods {
				clear(g.Pods[i].Env)
			}
		}, "trains alone: PADDLE_PSERVERS_IP_PORT_LIST is not set"},
		{"the master's name leads nowhere", collectiveGang(), func(g *Gang) {
			g.rename(dotted)
			g.Resolve = func(string) []string { return nil }
		}, "launcher, Paddle 2.3: the master is at host job-worker-0.job, which must lead to pod job-worker-0 alone and leads to []"},
		{"PADDLE_RANK breaks the first releases", collectiveGang(), func(g *Gang) {
			for i := range g.Pods {
				g.Pods[i].Env["PADDLE_RANK"] = strconv.Itoa(i)
			}
		}, "launcher, Paddle 2.3: TypeError"},
		{"a server's name leads nowhere", psGang(), func(g *Gang) {
			g.rename(dotted)
			g.Resolve = func(string) []string { return nil }
		}, "an entry of PADDLE_PSERVERS_IP_PORT_LIST is at host job-ps-0.job, which must lead to pod job-ps-0 alone and leads to []"},
		{"workers count from 1", psGang(), func(g *Gang) {
			for i := range g.Pods {
				g.Pods[i].Env["PADDLE_TRAINER_ID"] = strconv.Itoa(g.Pods[i].Index + 1)
			}
		}, "job-worker-0: takes itself for number 1, and is number 0"},
		{"an IPv6 address", psGang(), func(g *Gang) {
			g.set("PADDLE_PSERVERS_IP_PORT_LIST", "fd00::1:36000,10.0.0.2:36000")
			g.Pods[0].Env["POD_IP"], g.Pods[0].IP = "fd00::1", "fd00::1"
		}, `endpoint "fd00::1:36000" is not host:port`},
		{"a pod too few", psGang(), func(g *Gang) { g.Pods = append(g.Pods[:2], g.Pods[3:]...) }, "job-worker-1: the gang is not whole"},
		{"no server", psGang(), func(g *Gang) { g.Pods = g.Pods[2:] }, "needs servers and trainers: it has 0 and 3"},
		{"servers in a collective job", psGang(), func(g *Gang) { g.Mode = Collective }, "a job in mode Collective has no servers"},
		{"one worker in a collective job", singleGang(), func(g *Gang) { g.Mode = Collective }, "mode Collective does not fit 1 trainers"},
		{"several workers in a single job", collectiveGang(), func(g *Gang) { g.Mode = Single }, "mode Single does not fit 3 trainers"},
		{"heterogeneous trainers without a mode for them", heterGang().Direct(), func(g *Gang) { g.Pods, g.Mode = g.Pods[2:], Collective }, "has no heterogeneous trainers"},
		{"an elastic job of nobody", elasticGang().Direct(), func(g *Gang) { g.Pods = nil }, "needs workers"},
	} {
		t.Run(test.name, func(t *testing.T) {
			require.NoError(t, test.gang.Check(), "before")
			test.trap(test.gang)
			require.ErrorContains(t, test.gang.Check(), test.want)
		})
	}
}
