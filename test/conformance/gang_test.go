// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/test/cases"
)

// gangOf returns a gang of testdata/gangs.yaml, in which each variable is as Paddle wants it.
func gangOf(t *testing.T, name string) *Gang {
	t.Helper()
	all := cases.Read[map[string]struct {
		Mode   Mode
		Direct bool
		Env    map[string]string
		Pods   []Pod
	}](t, "testdata/gangs.yaml")
	require.Contains(t, all, name)
	g := &Gang{Mode: all[name].Mode, direct: all[name].Direct, Pods: all[name].Pods}
	for i := range g.Pods {
		own := g.Pods[i].Env
		g.Pods[i].Env = maps.Clone(all[name].Env)
		maps.Copy(g.Pods[i].Env, own)
	}
	g.Resolve = g.byIP
	return g
}

// byIP and byName resolve as a cluster does in which every pod has an IP, and a separate record in the domain "job".
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
	for _, name := range []string{"ps", "direct", "collective", "single", "heter", "elastic", "shared"} {
		require.NoError(t, gangOf(t, name).Check(), name)
	}
	for _, name := range []string{"ps", "collective"} {
		gang := gangOf(t, name)
		gang.rename(dotted)
		gang.Resolve = gang.byName
		require.NoError(t, gang.Check(), "%s by dotted names", name)
	}
	alone := gangOf(t, "single")
	alone.Pods[0].Env = map[string]string{}
	require.NoError(t, alone.Check(), "one trainer needs no variable at all")
}

func TestTheLauncherMayStartAParameterServerJob(t *testing.T) {
	gang := gangOf(t, "ps")
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
		{"service names without a dot: no node starts the master", gangOf(t, "collective"), func(g *Gang) {
			g.rename(short)
			g.Resolve = func(host string) []string { return []string{host} }
		}, "exactly one node must start the master, and 0 do"},
		{"paddle-operator's Service mode: names in POD_IP and another port in the list", gangOf(t, "ps"), func(g *Gang) {
			g.rename(short)
			g.set("PADDLE_PORT", "41234")
		}, "job-ps-0: role maker: ValueError: the server does not find its own endpoint job-ps-0:41234"},
		{"POD_IP is an IP and the list has names", gangOf(t, "ps"), func(g *Gang) {
			g.rename(dotted)
			g.Pods[1].Env["POD_IP"] = "10.0.0.2"
		}, "job-ps-1: role maker: ValueError: the server does not find its own endpoint 10.0.0.2:36000"},
		{"a restarted worker's address is the dead one's", gangOf(t, "collective"), func(g *Gang) { g.Pods[0].IP, g.Pods[0].Env["POD_IP"] = "10.0.0.99", "10.0.0.99" },
			"exactly one node must start the master, and 0 do"},
		{"the master's name leads nowhere", gangOf(t, "collective"), func(g *Gang) {
			g.rename(dotted)
			g.Resolve = func(string) []string { return nil }
		}, "launcher, Paddle 2.3: the master is at host job-worker-0.job, which must lead to pod job-worker-0 alone and leads to []"},
		{"a server's name leads nowhere", gangOf(t, "ps"), func(g *Gang) {
			g.rename(dotted)
			g.Resolve = func(string) []string { return nil }
		}, "an entry of PADDLE_PSERVERS_IP_PORT_LIST is at host job-ps-0.job, which must lead to pod job-ps-0 alone and leads to []"},
		{"a pod too few", gangOf(t, "ps"), func(g *Gang) { g.Pods = append(g.Pods[:2], g.Pods[3:]...) }, "job-worker-1: the gang is not whole"},
		{"no server", gangOf(t, "ps"), func(g *Gang) { g.Pods = g.Pods[2:] }, "needs servers and trainers: it has 0 and 3"},
		{"servers in a collective job", gangOf(t, "ps"), func(g *Gang) { g.Mode = Collective }, "a job in mode Collective has no servers"},
		{"one worker in a collective job", gangOf(t, "single"), func(g *Gang) { g.Mode = Collective }, "mode Collective does not fit 1 trainers"},
		{"several workers in a single job", gangOf(t, "collective"), func(g *Gang) { g.Mode = Single }, "mode Single does not fit 3 trainers"},
		{"heterogeneous trainers without a mode for them", gangOf(t, "heter"), func(g *Gang) { g.Pods, g.Mode = g.Pods[2:], Collective }, "has no heterogeneous trainers"},
		{"an elastic job without pods", gangOf(t, "elastic"), func(g *Gang) { g.Pods = nil }, "needs workers"},
	} {
		t.Run(test.name, func(t *testing.T) {
			require.NoError(t, test.gang.Check(), "before")
			test.trap(test.gang)
			require.ErrorContains(t, test.gang.Check(), test.want)
		})
	}
}
