// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"maps"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/test/conformance/rules"
)

func TestCloudLaunch(t *testing.T) {
	env := map[string]string{"PADDLE_TRAINERS": "10.0.0.1,10.0.0.2", "POD_IP": "10.0.0.2", "PADDLE_TRAINER_ID": "1", "TRAINER_PORTS_NUM": "20", "PADDLE_PORT": "36000"}
	with := func(name, value string) map[string]string {
		changed := maps.Clone(env)
		changed[name] = value
		return changed
	}
	hosts := []string{"10.0.0.1", "10.0.0.2"}
	cases := []struct {
		name string
		env  map[string]string
		want rules.CloudLauncher
	}{
		{"two nodes", env, rules.CloudLauncher{Hosts: hosts, Rank: 1, FirstPort: 36000}},
		{"no port that can be read", with("PADDLE_PORT", "tcp://10.1.0.1:80"), rules.CloudLauncher{Hosts: hosts, Rank: 1, FirstPort: 6170}},
		{"no ports at all", with("TRAINER_PORTS_NUM", "0"), rules.CloudLauncher{Hosts: hosts, Rank: 1, FirstPort: 6170}},
		{"one node keeps the default port", map[string]string{"PADDLE_TRAINERS": "a.job", "POD_IP": "a.job", "PADDLE_TRAINER_ID": "0", "TRAINER_PORTS_NUM": "20", "PADDLE_PORT": "36000"},
			rules.CloudLauncher{Hosts: []string{"a.job"}, FirstPort: 6170}},
	}
	for _, test := range cases {
		launcher, err := rules.CloudLaunch(test.env)
		require.NoError(t, err, test.name)
		require.Equal(t, test.want, launcher, test.name)
	}
	for _, name := range []string{"PADDLE_TRAINERS", "POD_IP", "PADDLE_TRAINER_ID", "TRAINER_PORTS_NUM"} {
		without := maps.Clone(env)
		delete(without, name)
		_, err := rules.CloudLaunch(without)
		require.ErrorIs(t, err, rules.ErrNotDistributed, name)
	}
	for _, test := range [][3]string{
		{"PADDLE_TRAINER_ID", "2", "IndexError: rank 2 of 2 nodes"}, {"PADDLE_TRAINER_ID", "-1", "IndexError"}, {"PADDLE_TRAINER_ID", "one", "is not a number"},
		{"TRAINER_PORTS_NUM", "", "is not a number"}, {"POD_IP", "10.0.0.3", "is not in PADDLE_TRAINERS"},
	} {
		_, err := rules.CloudLaunch(with(test[0], test[1]))
		require.ErrorContains(t, err, test[2], "%s=%s", test[0], test[1])
	}
}
