// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLaunch(t *testing.T) {
	const endpoints = "a.job:36000,b.job:36000"
	cases := []struct {
		name    string
		env     map[string]string
		release Release
		want    Launcher
	}{
		{"nothing: one node, nobody to wait for", nil, Since2023, Launcher{Host: "10.0.0.1", Nodes: 1, Rank: ByArrival}},
		{"POD_IP with a dot is the node's address", map[string]string{"POD_IP": "a.job"}, Since2023, Launcher{Host: "a.job", Nodes: 1, Rank: ByArrival}},
		{"POD_IP without a dot is not", map[string]string{"POD_IP": "a"}, Since2023, Launcher{Host: "10.0.0.1", Nodes: 1, Rank: ByArrival}},
		{"endpoints name the master, who listens", map[string]string{"POD_IP": "a.job", "PADDLE_TRAINER_ENDPOINTS": endpoints}, Since2023,
			Launcher{Host: "a.job", Nodes: 2, Rank: ByArrival, Master: "a.job:36000", StartsMaster: true}},
		{"endpoints beat the master and the number of nodes", map[string]string{"POD_IP": "b.job", "PADDLE_TRAINER_ENDPOINTS": endpoints, "PADDLE_MASTER": "c:1", "PADDLE_NNODES": "7"}, Since2023,
			Launcher{Host: "b.job", Nodes: 2, Rank: ByArrival, Master: "a.job:36000"}},
		{"endpoints without a port", map[string]string{"PADDLE_TRAINER_ENDPOINTS": "10.0.0.1,10.0.0.2"}, Since2023,
			Launcher{Host: "10.0.0.1", Nodes: 2, Rank: ByArrival, Master: "10.0.0.1:6768", StartsMaster: true}},
		{"a master of one's own", map[string]string{"PADDLE_MASTER": "10.0.0.2:8000", "PADDLE_NNODES": "2"}, Since2023,
			Launcher{Host: "10.0.0.1", Nodes: 2, Rank: ByArrival, Master: "10.0.0.2:8000"}},
		{"no master: one is made up", map[string]string{"PADDLE_NNODES": "2"}, Since2023, Launcher{Host: "10.0.0.1", Nodes: 2, Rank: ByArrival, StartsMaster: true}},
		{"PADDLE_TRAINER_ID is the rank", map[string]string{"PADDLE_TRAINER_ID": "3"}, Since2023, Launcher{Host: "10.0.0.1", Nodes: 1, Rank: 3}},
		{"PADDLE_TRAINER_ID was not the rank before", map[string]string{"PADDLE_TRAINER_ID": "3"}, Until2023, Launcher{Host: "10.0.0.1", Nodes: 1, Rank: ByArrival}},
		{"PADDLE_RANK was", map[string]string{"PADDLE_TRAINER_ID": "3", "PADDLE_RANK": "2"}, Until2023, Launcher{Host: "10.0.0.1", Nodes: 1, Rank: 2}},
		{"PADDLE_RANK still wins", map[string]string{"PADDLE_TRAINER_ID": "3", "PADDLE_RANK": "2"}, Since2023, Launcher{Host: "10.0.0.1", Nodes: 1, Rank: 2}},
		{"a negative PADDLE_RANK takes it back", map[string]string{"PADDLE_TRAINER_ID": "3", "PADDLE_RANK": "-1"}, Since2023, Launcher{Host: "10.0.0.1", Nodes: 1, Rank: ByArrival}},
		{"servers on the loopback", map[string]string{"PADDLE_SERVERS_ENDPOINTS": "127.0.0.1:1,127.0.0.1:2", "PADDLE_TRAINERS_ENDPOINTS": "127.0.0.1:3"}, Since2023,
			Launcher{Host: "10.0.0.1", Nodes: 1, Rank: ByArrival, PS: true, Servers: []string{"127.0.0.1:1", "127.0.0.1:2"}, Trainers: []string{"127.0.0.1:3"}, Gloo: "127.0.0.1:6767"}},
		{"the launcher's gloo", map[string]string{"PADDLE_SERVERS_ENDPOINTS": "10.0.0.9:1", "PADDLE_TRAINERS_ENDPOINTS": "10.0.0.1:3", "PADDLE_GLOO_PORT": "18"}, Since2023,
			Launcher{Host: "10.0.0.1", Nodes: 1, Rank: ByArrival, PS: true, Trainers: []string{"10.0.0.1:3"}, Gloo: "10.0.0.9:18"}},
		{"the launcher's gloo is off", map[string]string{"PADDLE_SERVERS_ENDPOINTS": "10.0.0.9:1", "PADDLE_TRAINERS_ENDPOINTS": "10.0.0.1:3", "PADDLE_WITH_GLOO": "0"}, Since2023,
			Launcher{Host: "10.0.0.1", Nodes: 1, Rank: ByArrival, PS: true, Trainers: []string{"10.0.0.1:3"}}},
	}
	for _, test := range cases {
		t.Run(test.name, func(t *testing.T) {
			launcher, err := Launch(test.env, "10.0.0.1", test.release)
			require.NoError(t, err)
			require.Equal(t, test.want, launcher)
		})
	}
	for _, test := range []struct {
		name, value, want string
	}{
		{"PADDLE_MASTER", "etcd://store:2379", "elastic training"},
		{"PADDLE_NNODES", "2:4", "a range, for elastic training"},
		{"PADDLE_NNODES", "two", "is not a number"},
		{"PADDLE_TRAINER_ID", "", "is not a number"},
		{"PADDLE_RUN_MODE", "ps", "makes up its own servers and trainers"},
		{"PADDLE_TRAINER_ENDPOINTS", "10.0.0.1:x,10.0.0.2:1", "no port from 1 to 65535"},
	} {
		_, err := Launch(map[string]string{test.name: test.value}, "10.0.0.1", Since2023)
		require.ErrorContains(t, err, test.want, "%s=%s", test.name, test.value)
	}
}

func TestStartFrontEnd(t *testing.T) {
	full := map[string]string{
		"PADDLE_TRAINER_ID": "1", "PADDLE_TRAINERS": "a,b", "PADDLE_TRAINER_ENDPOINTS": "a:1,b:1", "PADDLE_TRAINERS_NUM": "2", "POD_IP": "b",
		"NNODES": "2", "MASTER_ADDR": "a", "MASTER_PORT": "9", "RANK": "1",
	}
	front, err := StartFrontEnd(full, true)
	require.NoError(t, err)
	require.Equal(t, FrontEnd{Distributed: true, Env: map[string]string{
		"POD_IP": "b", "NNODES": "2", "MASTER_ADDR": "a", "MASTER_PORT": "9", "RANK": "1",
		"PADDLE_MASTER": "a:9", "PADDLE_NNODES": "2", "PADDLE_RANK": "1",
	}}, front)
	require.Contains(t, full, "PADDLE_TRAINER_ID", "the pod's own environment stays")
	front, err = StartFrontEnd(full, false)
	require.NoError(t, err)
	require.NotContains(t, front.Env, "PADDLE_RANK")

	front, err = StartFrontEnd(map[string]string{"NNODES": "2", "MASTER_ADDR": "a", "MASTER_PORT": "9", "PADDLE_MASTER": "c:1"}, false)
	require.NoError(t, err)
	require.Equal(t, "c:1", front.Env["PADDLE_MASTER"], "variables beat arguments")

	front, err = StartFrontEnd(map[string]string{"PADDLE_TRAINER_ENDPOINTS": "a:1,b:1"}, true)
	require.NoError(t, err)
	require.Equal(t, FrontEnd{Env: map[string]string{}}, front, "without NNODES it trains alone")

	for name, env := range map[string]map[string]string{
		"NNODES":      {"NNODES": "2:4"},
		"MASTER_ADDR": {"NNODES": "2", "MASTER_PORT": "9"},
		"MASTER_PORT": {"NNODES": "2", "MASTER_ADDR": "a"},
		"RANK":        {"NNODES": "2", "MASTER_ADDR": "a", "MASTER_PORT": "9"},
	} {
		_, err := StartFrontEnd(env, true)
		require.ErrorContains(t, err, name)
	}
}
