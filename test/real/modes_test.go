// SPDX-License-Identifier: Apache-2.0

package real_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/test/live"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox/node"
)

// mode is a way to train, and the networks in which it can be done with all pods on one node: Paddle's launcher counts
// nodes by their addresses, so that in the node's own network only programs without it are more than one.
type mode struct {
	name     string
	changes  []change
	networks []v1.Intranet
	workers  int
	// says is what a pod of each role must say.
	says map[string]string
}

var everywhere = []v1.Intranet{v1.PodIP, v1.Service, v1.Host}

var modes = []mode{
	{"ps", nil, everywhere, 2, map[string]string{"ps": "TRAINER 1 is here", "worker": "trainer 1 of 2, servers ["}},
	{"gloo of all", []change{gloo(2)}, everywhere, 2, map[string]string{
		"ps": "gloo: 2 trainers and 2 servers have met", "worker": "gloo: 2 trainers have met"}},
	{"ps by the launcher", []change{gloo(1), launched}, []v1.Intranet{v1.PodIP, v1.Service}, 2, map[string]string{
		"ps": "server 1 of 2 listens at", "worker": "gloo: 2 trainers have met"}},
	{"heter", []change{heter(2), gloo(1)}, everywhere, 2, map[string]string{
		"ps": "TRAINER 1 is here", "worker": "trainer 1 of 2, servers [", "heter": "all 2 trainers are done"}},
	{"collective", []change{noServers, workers(3)}, everywhere, 3, map[string]string{"worker": "trainer 2 of 3 in collective training"}},
	{"collective by the launcher", []change{noServers, workers(3), launched}, []v1.Intranet{v1.PodIP, v1.Service}, 3, map[string]string{"worker": "launcher: node 2 of 3 at"}},
	{"single", []change{noServers, workers(1), launched}, everywhere, 1, map[string]string{"worker": "trainer 0 of 1 in collective training"}},
}

func noServers(job *v1.PaddleJob) { job.Spec.PS = nil }

func TestModes(t *testing.T) {
	t.Parallel()
	live.RequireReal(t)
	live.SkipUnlessAll(t)
	for _, m := range modes {
		for _, network := range m.networks {
			t.Run(fmt.Sprintf("%s, %s", m.name, network), func(t *testing.T) {
				t.Parallel()
				if network == v1.Host && m.workers > 1 && sandbox.RealRootless() {
					t.Skip("without the start barrier, for which rootless nodes lack a user, a program may start before its kubelet " +
						"has heard which ports the controller gave it")
				}
				r := newTrial(t, "job")
				r.create(t, r.psJob(append([]change{intranet(network)}, m.changes...)...))
				done := r.awaitTrained(t, m.workers)
				require.Zero(t, done.Status.Restarts)
				for role, text := range m.says {
					require.NotEmpty(t, r.said(role, text), "no pod of %s says %q", role, text)
				}
				r.requireNetwork(t, network)
				require.Equal(t, m.name != "single" && !sandbox.RealRootless(), r.containers(barrier) > 0, "a start barrier has run")
			})
		}
	}
}

// requireNetwork looks that pods of jobs with servers were found by what the user asked for.
func (r *trial) requireNetwork(t *testing.T, network v1.Intranet) {
	t.Helper()
	host := map[v1.Intranet]string{
		v1.PodIP: node.Address.Addr().String()[:strings.LastIndexByte(node.Address.Addr().String(), '.')+1],
		v1.Host:  node.Address.Addr().String() + ":", v1.Service: "job-ps-0.job:",
	}[network]
	for _, l := range r.said("worker", "of 2, servers [") {
		_, servers, _ := strings.Cut(l.text, "servers [")
		require.True(t, strings.HasPrefix(servers, host), "%s: %s", network, l.text)
		require.Equal(t, network == v1.Host, strings.HasPrefix(servers, node.Address.Addr().String()+":"), l.text)
	}
}
