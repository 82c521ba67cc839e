// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/test/conformance/rules"
)

// Python's strip takes characters off, not the scheme.
func TestElasticLaunchLosesLetters(t *testing.T) {
	env := map[string]string{
		"POD_IP": "10.0.0.10", "PADDLE_NNODES": "2:4", "PADDLE_JOB_ID": "ns-job", "PADDLE_ELASTIC_LEVEL": "1",
	}
	for master, want := range map[string]string{
		"etcd://kv.ns:2379": "kv.ns:2379", "etcd://etcd.ns:2379": ".ns:2379", "etcd://db:1": "b:1", "etcd://10.0.0.1:2": "10.0.0.1:2",
	} {
		env["PADDLE_MASTER"] = master
		launcher, err := rules.ElasticLaunch(env, "10.0.0.1")
		require.NoError(t, err)
		require.Equal(t, want, launcher.Etcd)
	}
	env["PADDLE_ELASTIC_TIMEOUT"], env["PADDLE_MAX_RESTART"] = "60", "0"
	launcher, err := rules.ElasticLaunch(env, "10.0.0.1")
	require.NoError(t, err)
	require.Equal(t, []int{60, 0, 2, 4}, []int{launcher.Timeout, launcher.MaxRestart, launcher.Least, launcher.Most})
}
