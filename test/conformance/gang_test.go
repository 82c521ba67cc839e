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

func TestEachTrapIsDetected(t *testing.T) {
	cases := []struct {
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
		{"gloo on server 0's own port", psGang(), func(g *Gang) { g.set("PADDLE_GLOO_HTTP_ENDPOINT", "10.0.0.1:36000") },
			"gloo's rendezvous 10.0.0.1:36000 is on the port that job-ps-0 needs for itself"},
		{"gloo at server 1", psGang(), func(g *Gang) { g.set("PADDLE_GLOO_HTTP_ENDPOINT", "10.0.0.2:36018") },
			"gloo's rendezvous, which server 0 serves, is at host 10.0.0.2"},
		{"gloo without an endpoint", psGang(), func(g *Gang) { g.unset("PADDLE_GLOO_HTTP_ENDPOINT") }, "gloo: gloo's HTTP endpoint: ValueError"},
		{"gloo without a way to meet", psGang(), func(g *Gang) { g.set("PADDLE_GLOO_RENDEZVOUS", "0") }, "PADDLE_GLOO_RENDEZVOUS is 0"},
		{"gloo in the workers alone", psGang(), func(g *Gang) { g.Pods[0].Env["PADDLE_WITH_GLOO"] = "0" }, `PADDLE_WITH_GLOO is "1" here and "0" in job-ps-0`},
		{"two workers on one host", collectiveGang(), func(g *Gang) {
			g.Pods[2].Env["POD_IP"] = "10.0.0.11"
			g.set("PADDLE_TRAINER_ENDPOINTS", "10.0.0.10:36000,10.0.0.11:36000,10.0.0.11:36020")
		}, "waits for 2 nodes, and there are 3"},
		{"all workers on one host", collectiveGang(), func(g *Gang) {
			g.set("POD_IP", "10.0.0.10")
			g.set("PADDLE_TRAINER_ENDPOINTS", "10.0.0.10:36000,10.0.0.10:36020,10.0.0.10:36040")
		}, "waits for 1 nodes, and there are 3"},
		{"2.0's launcher finds no list of hosts", collectiveGang(), func(g *Gang) { g.unset("PADDLE_TRAINERS") },
			"job-worker-0: launcher, Paddle 2.0 to 2.2: trains alone: PADDLE_TRAINERS is not set"},
		{"2.0's launcher finds another list of hosts", collectiveGang(), func(g *Gang) { g.set("PADDLE_TRAINERS", "10.0.0.10,10.0.0.11") },
			"job-worker-0: launcher, Paddle 2.0 to 2.2: reckons with 2 nodes, and there are 3"},
		{"2.0's launcher finds other hosts", collectiveGang(), func(g *Gang) { g.set("PADDLE_TRAINERS", "a.job,b.job,c.job") },
			"job-worker-0: launcher, Paddle 2.0 to 2.2: ValueError: POD_IP 10.0.0.10 is not in PADDLE_TRAINERS"},
		{"2.0's launchers begin at two ports", collectiveGang(), func(g *Gang) { g.Pods[1].Env["PADDLE_PORT"] = "36020" },
			"launcher, Paddle 2.0 to 2.2: the nodes reckon with 2 first ports"},
		{"2.0's launcher finds hosts in another order", collectiveGang(), func(g *Gang) { g.set("PADDLE_TRAINERS", "10.0.0.11,10.0.0.10,10.0.0.12") },
			"job-worker-0: launcher, Paddle 2.0 to 2.2: the node is at host 10.0.0.11"},
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
		{"the number of nodes without a master", collectiveGang(), func(g *Gang) {
			g.unset("PADDLE_TRAINER_ENDPOINTS")
			g.set("PADDLE_NNODES", "3")
		}, "exactly one node must start the master, and 3 do"},
		{"a master with a scheme", collectiveGang(), func(g *Gang) {
			g.unset("PADDLE_TRAINER_ENDPOINTS")
			g.set("PADDLE_NNODES", "3")
			g.set("PADDLE_MASTER", "http://10.0.0.10:36000")
		}, `endpoint "http://10.0.0.10:36000" is not host:port`},
		{"everybody is the master", collectiveGang(), func(g *Gang) { g.set("PADDLE_TRAINER_ENDPOINTS", "127.0.0.1:36000,10.0.0.11:36000,10.0.0.12:36000") },
			"exactly one node must start the master, and 3 do"},
		{"two masters", collectiveGang(), func(g *Gang) {
			g.Pods[2].Env["PADDLE_TRAINER_ENDPOINTS"] = "10.0.0.12:36000,10.0.0.11:36000,10.0.0.10:36000"
		}, "exactly one node must start the master, and 2 do: [job-worker-0 job-worker-2]"},
		{"the master is looked for at two ports", collectiveGang(), func(g *Gang) {
			g.Pods[1].Env["PADDLE_TRAINER_ENDPOINTS"] = "10.0.0.10:36001,10.0.0.11:36000,10.0.0.12:36000"
		}, `job-worker-1: launcher, Paddle 2.3: looks for the master at "10.0.0.10:36001"`},
		{"the master's name leads nowhere", collectiveGang(), func(g *Gang) {
			g.rename(dotted)
			g.Resolve = func(string) []string { return nil }
		}, "launcher, Paddle 2.3: the master is at host job-worker-0.job, which must lead to pod job-worker-0 alone and leads to []"},
		{"one node is told an address that is another's", collectiveGang(), func(g *Gang) { g.Pods[2].Env["POD_IP"] = "10.0.0.11" },
			"job-worker-2: launcher, Paddle 2.3: the node, by what it tells the others, is at host 10.0.0.11"},
		{"two ranks are one", collectiveGang(), func(g *Gang) { g.Pods[2].Env["PADDLE_TRAINER_ID"] = "1" },
			"job-worker-2: launcher, Paddle since mid-2023: takes rank 1, and is number 2"},
		{"PADDLE_RANK beats PADDLE_TRAINER_ID", collectiveGang(), func(g *Gang) { g.Pods[2].Env["PADDLE_RANK"] = "0" },
			"Paddle until mid-2023: either all nodes are given a rank or none is"},
		{"PADDLE_RANK breaks the first releases", collectiveGang(), func(g *Gang) {
			for i := range g.Pods {
				g.Pods[i].Env["PADDLE_RANK"] = strconv.Itoa(i)
			}
		}, "launcher, Paddle 2.3: TypeError"},
		{"an empty index", collectiveGang(), func(g *Gang) { g.Pods[1].Env["PADDLE_TRAINER_ID"] = "" }, `PADDLE_TRAINER_ID="" is not a number`},
		{"an index that was not expanded", psGang(), func(g *Gang) { g.Pods[3].Env["PADDLE_TRAINER_ID"] = "$(VC_TASK_INDEX)" },
			`job-worker-1: role maker: ValueError: PADDLE_TRAINER_ID="$(VC_TASK_INDEX)" is not a number`},
		{"collective processes that take themselves for servers", collectiveGang(), func(g *Gang) { g.set("PADDLE_TRAINING_ROLE", "PSERVER") },
			"AssertionError: PADDLE_TRAINING_ROLE"},
		{"a variable of the legacy launcher", collectiveGang(), func(g *Gang) { g.set("PADDLE_ELASTIC_JOB_ID", "ns-job") }, "legacy mode"},
		{"the singular of a variable makes a PS job of it", collectiveGang(), func(g *Gang) { g.set("PADDLE_TRAINER_NUM", "3") },
			"makes up its own servers and trainers"},
		{"gloo in collective training without a way to meet", collectiveGang(), func(g *Gang) { g.set("PADDLE_WITH_GLOO", "1") },
			"gloo: ValueError: PADDLE_GLOO_RENDEZVOUS is not set"},
		{"the role that paddle-operator gives to heter", psGang(), func(g *Gang) { g.Pods[4].Env["TRAINING_ROLE"] = "HETER" }, `TRAINING_ROLE is "HETER"`},
		{"a server that thinks it is a trainer", psGang(), func(g *Gang) { g.Pods[0].Env["TRAINING_ROLE"] = "TRAINER" },
			"job-ps-0: takes itself for a TRAINER, and is a PSERVER"},
		{"servers in another order", psGang(), func(g *Gang) { g.set("PADDLE_PSERVERS_IP_PORT_LIST", "10.0.0.2:36000,10.0.0.1:36000") },
			"job-ps-0: takes itself for number 1, and is number 0"},
		{"one server too few in the list", psGang(), func(g *Gang) { g.set("PADDLE_PSERVERS_IP_PORT_LIST", "10.0.0.1:36000") },
			"PADDLE_PSERVERS_IP_PORT_LIST has 1 entries for 2 pods"},
		{"one server twice in the list", psGang(), func(g *Gang) { g.set("PADDLE_PSERVERS_IP_PORT_LIST", "10.0.0.1:36000,10.0.0.1:36000") },
			"10.0.0.1:36000 stands in PADDLE_PSERVERS_IP_PORT_LIST twice"},
		{"workers know other servers", psGang(), func(g *Gang) {
			g.Pods[2].Env["PADDLE_PSERVERS_IP_PORT_LIST"] = "10.0.0.1:36000,10.0.0.9:36000"
		}, "job-worker-0: has another list of servers"},
		{"servers without an address yet", psGang(), func(g *Gang) { g.set("PADDLE_PSERVERS_IP_PORT_LIST", ":36000,:36000") }, "does not find its own endpoint"},
		{"a server's name leads nowhere", psGang(), func(g *Gang) {
			g.rename(dotted)
			g.Resolve = func(string) []string { return nil }
		}, "an entry of PADDLE_PSERVERS_IP_PORT_LIST is at host job-ps-0.job, which must lead to pod job-ps-0 alone and leads to []"},
		{"the wrong number of workers", psGang(), func(g *Gang) { g.set("PADDLE_TRAINERS_NUM", "5") }, "reckons with 5 trainers, and there are 3"},
		{"the wrong list of workers", psGang(), func(g *Gang) { g.set("PADDLE_TRAINER_ENDPOINTS", "10.0.0.11:36000") }, "PADDLE_TRAINER_ENDPOINTS has 1 entries for 3 trainers"},
		{"workers in another order", psGang(), func(g *Gang) { g.set("PADDLE_TRAINER_ENDPOINTS", "10.0.0.12:36000,10.0.0.11:36000,10.0.0.13:36000") },
			"job-worker-0: is 10.0.0.11:36000 (POD_IP:PADDLE_PORT) to itself and 10.0.0.12:36000 to the others"},
		{"workers count from 1", psGang(), func(g *Gang) {
			for i := range g.Pods {
				g.Pods[i].Env["PADDLE_TRAINER_ID"] = strconv.Itoa(g.Pods[i].Index + 1)
			}
		}, "job-worker-0: takes itself for number 1, and is number 0"},
		{"an IPv6 address", psGang(), func(g *Gang) {
			g.set("PADDLE_PSERVERS_IP_PORT_LIST", "fd00::1:36000,10.0.0.2:36000")
			g.Pods[0].Env["POD_IP"], g.Pods[0].IP = "fd00::1", "fd00::1"
		}, `endpoint "fd00::1:36000" is not host:port`},
		{"no port", psGang(), func(g *Gang) { g.unset("PADDLE_PORT") }, "PADDLE_PORT is not set"},
		{"a single worker that waits for another", singleGang(), func(g *Gang) { g.set("PADDLE_TRAINER_ENDPOINTS", "10.0.0.10:1,10.0.0.11:1") },
			"waits for 2 nodes, and there are 1"},
		{"a pod too few", psGang(), func(g *Gang) { g.Pods = append(g.Pods[:2], g.Pods[3:]...) }, "job-worker-1: the gang is not whole"},
		{"no server", psGang(), func(g *Gang) { g.Pods = g.Pods[2:] }, "needs servers and trainers: it has 0 and 3"},
		{"servers in a collective job", psGang(), func(g *Gang) { g.Mode = Collective }, "a job in mode Collective has no servers"},
		{"one worker in a collective job", singleGang(), func(g *Gang) { g.Mode = Collective }, "mode Collective does not fit 1 trainers"},
		{"several workers in a single job", collectiveGang(), func(g *Gang) { g.Mode = Single }, "mode Single does not fit 3 trainers"},
	}
	for _, test := range cases {
		t.Run(test.name, func(t *testing.T) {
			require.NoError(t, test.gang.Check(), "before")
			test.trap(test.gang)
			require.ErrorContains(t, test.gang.Check(), test.want)
		})
	}
}
