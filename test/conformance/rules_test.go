// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"cmp"
	"maps"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/test/cases"
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
		launcher, err := rules.ElasticLaunch(env, "10.0.0.1", rules.Newest)
		require.NoError(t, err)
		require.Equal(t, want, launcher.Etcd)
	}
	env["PADDLE_ELASTIC_TIMEOUT"], env["PADDLE_MAX_RESTART"] = "60", "0"
	launcher, err := rules.ElasticLaunch(env, "10.0.0.1", rules.Newest)
	require.NoError(t, err)
	require.Equal(t, []int{60, 0, 2, 4}, []int{launcher.Timeout, launcher.MaxRestart, launcher.Least, launcher.Most})
}

func TestCTRScript(t *testing.T) {
	file := cases.Read[struct {
		Variables map[string]string
		Pods      []rules.CTRPod
		Cases     map[string]struct {
			Env                map[string]string
			Without, IP, Error string
			Pods               int
			Want               rules.PSRole
		}
	}](t, "testdata/ctr.yaml")
	for name, test := range file.Cases {
		env := maps.Clone(file.Variables)
		maps.Copy(env, test.Env)
		delete(env, test.Without)
		role, err := rules.CTRScript(env, cmp.Or(test.IP, "10.0.0.2"), file.Pods[:cmp.Or(test.Pods, len(file.Pods))])
		if test.Error != "" {
			require.ErrorContains(t, err, test.Error, name)
			continue
		}
		require.NoError(t, err, name)
		require.Equal(t, test.Want, role, name)
	}
}
