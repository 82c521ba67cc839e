// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"maps"
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
	env := map[string]string{
		"NAMESPACE": "default", "POD_NAME": "ctr-volcano-pserver-0", "POD_IP": "10.0.0.2", "PADDLE_JOB_NAME": "fluid-ctr", "PADDLE_TRAINING_ROLE": "PSERVER",
		"TRAINING_ROLE": "PSERVER", "PADDLE_PSERVERS_NUM": "2", "PADDLE_TRAINERS_NUM": "1", "PADDLE_PORT": "30236",
	}
	server, trainer := map[string]string{"paddle-job-pserver": "fluid-ctr"}, map[string]string{"paddle-job": "fluid-ctr"}
	pods := []rules.CTRPod{{Labels: server, IP: "10.0.0.2"}, {Labels: server, IP: "10.0.0.10"}, {Labels: trainer, IP: "10.0.0.3"}, {Labels: map[string]string{"paddle-job": "another"}, IP: "10.0.0.4"}}
	without := func(name string) map[string]string {
		left := maps.Clone(env)
		delete(left, name)
		return left
	}
	with := func(name, value string) map[string]string {
		changed := maps.Clone(env)
		changed[name] = value
		return changed
	}

	role, err := rules.CTRScript(env, "10.0.0.2", pods)
	require.NoError(t, err)
	require.Equal(t, rules.PSRole{Role: rules.Server, Index: 1, Servers: []string{"10.0.0.10:30236", "10.0.0.2:30237"}, Workers: 1, Endpoint: "10.0.0.2:30237"}, role,
		"IPs are ordered as text, and ports count up")
	role, err = rules.CTRScript(with("PADDLE_TRAINING_ROLE", rules.Trainer), "10.0.0.3", pods)
	require.NoError(t, err)
	require.Equal(t, 0, role.Index)
	require.Equal(t, "10.0.0.3:30236", role.Endpoint)
	_, err = rules.CTRScript(env, "10.0.0.2", pods[:2])
	require.NoError(t, err, "servers do not wait for trainers")
	_, err = rules.CTRScript(with("PADDLE_TRAINING_ROLE", rules.Trainer), "10.0.0.3", pods[:2])
	require.ErrorContains(t, err, "waits for PADDLE_TRAINERS_NUM=1 pods, of which only 0 run")
	_, err = rules.CTRScript(with("PADDLE_PORT", "http"), "10.0.0.2", pods)
	require.ErrorContains(t, err, "is not a number")

	for name := range map[string]bool{"NAMESPACE": true, "PADDLE_JOB_NAME": true, "PADDLE_PORT": true, "PADDLE_TRAINING_ROLE": true, "PADDLE_PSERVERS_NUM": true, "PADDLE_TRAINERS_NUM": true} {
		_, err := rules.CTRScript(without(name), "10.0.0.2", pods)
		require.ErrorContains(t, err, name+" is not set")
	}
	_, err = rules.CTRScript(with("PADDLE_PSERVERS_NUM", "3"), "10.0.0.2", pods)
	require.ErrorContains(t, err, "waits for PADDLE_PSERVERS_NUM=3 pods, of which only 2 run")
	_, err = rules.CTRScript(env, "10.0.0.3", pods)
	require.ErrorContains(t, err, "its IP 10.0.0.3 is not among those of the job's pods with role PSERVER")
}
