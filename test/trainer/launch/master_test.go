// SPDX-License-Identifier: Apache-2.0

package launch

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/test/conformance/rules"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/process"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/wire"
)

func TestEnough(t *testing.T) {
	require.NoError(t, enough(2, 2))
	require.EqualError(t, enough(1, 2), "wrong world size: 1 of 2 nodes have come to the master")
	err := enough(3, 2)
	require.ErrorAs(t, err, &wire.FinalError{}, "no further wait can mend it")
	require.ErrorContains(t, err, "3 launchers came to the master, and 2 nodes were to meet: has one restarted alone?")
}

func TestSort(t *testing.T) {
	for _, test := range []struct {
		name  string
		nodes []node
		want  []string
		err   string
	}{
		{"ranks", []node{{2, "a:1", false}, {0, "c:1", true}, {1, "b:1", false}}, []string{"c:1", "b:1", "a:1"}, ""},
		{"the master need not be rank 0 where ranks are given", []node{{1, "a:1", true}, {0, "b:1", false}}, []string{"b:1", "a:1"}, ""},
		{"by arrival the master is", []node{{rules.ByArrival, "a:1", false}, {rules.ByArrival, "b:1", true}, {rules.ByArrival, "a:0", false}}, []string{"b:1", "a:0", "a:1"}, ""},
		{"two of one rank", []node{{0, "a:1", true}, {1, "b:1", false}, {1, "c:1", false}}, nil, "wrong rank: c:1 claims rank 1, and rank 2 is nobody's or another's"},
		{"ranks from 1", []node{{1, "a:1", true}, {2, "b:1", false}}, nil, "wrong rank: a:1 claims rank 1"},
		{"some", []node{{0, "a:1", true}, {rules.ByArrival, "b:1", false}}, nil, "wrong rank: 1 of 2 nodes were given one"},
	} {
		texts := map[string]string{}
		for _, n := range test.nodes {
			text, err := json.Marshal(n)
			require.NoError(t, err)
			texts["nodes/"+n.Endpoint] = string(text)
		}
		at, err := sort(texts, "a:1")
		if test.err != "" {
			require.ErrorContains(t, err, test.err, test.name)
			continue
		}
		require.NoError(t, err, test.name)
		require.Equal(t, test.want, at.endpoints, test.name)
		require.Equal(t, "a:1", test.want[at.rank], test.name)
	}
	_, err := sort(map[string]string{"nodes/x": "{"}, "x")
	require.ErrorContains(t, err, "node nodes/x")
}

// Servers and trainers of the launcher's own address get what their role makers read.
func TestProcesses(t *testing.T) {
	env := map[string]string{
		"POD_IP": "b.job", "PADDLE_SERVERS_ENDPOINTS": "a.job:1,b.job:2", "PADDLE_TRAINERS_ENDPOINTS": "a.job:3,b.job:4,b.job:5", "PADDLE_GLOO_PORT": "9",
	}
	launcher, err := rules.Launch(env, "", rules.Since2023)
	require.NoError(t, err)
	var roles []rules.PSRole
	p := newProcess(env)
	for _, more := range processes(p, &launcher) {
		child := p.Child(more)
		role, err := rules.PSRoleMaker(child.Env)
		require.NoError(t, err)
		gloo, err := rules.PSGloo(child.Env, role)
		require.NoError(t, err)
		require.Equal(t, rules.Gloo{Level: 1, HTTP: true, Host: "a.job", Port: 9}, gloo)
		roles = append(roles, role)
	}
	servers, trainers := []string{"a.job:1", "b.job:2"}, []string{"a.job:3", "b.job:4", "b.job:5"}
	require.Equal(t, []rules.PSRole{
		{Role: rules.Server, Index: 1, Servers: servers, Trainers: trainers, Workers: 3, Endpoint: "b.job:2"},
		{Role: rules.Trainer, Index: 1, Servers: servers, Trainers: trainers, Workers: 3, Endpoint: "b.job:4"},
		{Role: rules.Trainer, Index: 2, Servers: servers, Trainers: trainers, Workers: 3, Endpoint: "b.job:5"},
	}, roles)
	require.NotContains(t, env, "TRAINING_ROLE", "a child's variables are its own")
	require.ErrorContains(t, startAll(t.Context(), p, nil, nil), "the launcher has nothing to start")
}

func newProcess(env map[string]string) *process.Process { return &process.Process{Env: env} }
