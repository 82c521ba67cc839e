// SPDX-License-Identifier: Apache-2.0

package builder

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
)

func withGloo(value int32) change {
	return func(job *v1.PaddleJob) { job.Spec.WithGloo = ptr.To(value) }
}

func TestConfigMapData(t *testing.T) {
	ips := Addresses{RolePS: {"10.0.0.1", "10.0.0.2"}, RoleWorker: {"10.0.0.3", "10.0.0.4"}}
	servers := map[string]string{
		"PADDLE_PORT":                  "36000",
		"TRAINER_PORTS_NUM":            "20",
		"PADDLE_PSERVERS_IP_PORT_LIST": "10.0.0.1:36000,10.0.0.2:36000",
		"PADDLE_TRAINER_ENDPOINTS":     "10.0.0.3:36000,10.0.0.4:36000",
		"PADDLE_TRAINERS":              "10.0.0.3,10.0.0.4",
		"PADDLE_TRAINERS_NUM":          "2",
		"PADDLE_SERVERS_ENDPOINTS":     "10.0.0.1:36000,10.0.0.2:36000",
		"PADDLE_TRAINERS_ENDPOINTS":    "10.0.0.3:36000,10.0.0.4:36000",
		"PADDLE_GLOO_PORT":             "36018",
	}
	gloo := merged(servers, map[string]string{
		"PADDLE_WITH_GLOO":          "1",
		"PADDLE_GLOO_RENDEZVOUS":    "3",
		"PADDLE_GLOO_HTTP_ENDPOINT": "10.0.0.1:36018",
	})
	workers := map[string]string{
		"PADDLE_PORT":              "36000",
		"TRAINER_PORTS_NUM":        "20",
		"PADDLE_TRAINER_ENDPOINTS": "10.0.0.3:36000,10.0.0.4:36000",
		"PADDLE_TRAINERS":          "10.0.0.3,10.0.0.4",
		"PADDLE_TRAINERS_NUM":      "2",
	}
	collective := merged(workers, map[string]string{"NNODES": "2", "MASTER_ADDR": "10.0.0.3", "MASTER_PORT": "36019"})
	service := paddleJob(2, 2, withGloo(1), intranet(v1.Service))
	cases := map[string]struct {
		job       *v1.PaddleJob
		addresses Addresses
		want      map[string]string
	}{
		"servers":            {paddleJob(2, 2), ips, servers},
		"servers, gloo off":  {paddleJob(2, 2, withGloo(0)), ips, merged(servers, map[string]string{"PADDLE_WITH_GLOO": "0"})},
		"servers, gloo":      {paddleJob(2, 2, withGloo(1)), ips, gloo},
		"servers, gloo all":  {paddleJob(2, 2, withGloo(2)), ips, merged(gloo, map[string]string{"PADDLE_WITH_GLOO": "2"})},
		"collective":         {paddleJob(0, 2), ips, collective},
		"gloo needs servers": {paddleJob(0, 2, withGloo(1)), ips, collective},
		"names": {service, ServiceAddresses(service), map[string]string{
			"PADDLE_PORT":                  "36000",
			"TRAINER_PORTS_NUM":            "20",
			"PADDLE_PSERVERS_IP_PORT_LIST": "wide-ps-0.wide:36000,wide-ps-1.wide:36000",
			"PADDLE_TRAINER_ENDPOINTS":     "wide-worker-0.wide:36000,wide-worker-1.wide:36000",
			"PADDLE_TRAINERS":              "wide-worker-0.wide,wide-worker-1.wide",
			"PADDLE_TRAINERS_NUM":          "2",
			"PADDLE_SERVERS_ENDPOINTS":     "wide-ps-0.wide:36000,wide-ps-1.wide:36000",
			"PADDLE_TRAINERS_ENDPOINTS":    "wide-worker-0.wide:36000,wide-worker-1.wide:36000",
			"PADDLE_GLOO_PORT":             "36018",
			"PADDLE_WITH_GLOO":             "1",
			"PADDLE_GLOO_RENDEZVOUS":       "3",
			"PADDLE_GLOO_HTTP_ENDPOINT":    "wide-ps-0.wide:36018",
		}},
		"single": {paddleJob(0, 1), Addresses{RoleWorker: {"10.0.0.3"}}, map[string]string{
			"PADDLE_PORT":              "36000",
			"TRAINER_PORTS_NUM":        "20",
			"PADDLE_TRAINER_ENDPOINTS": "10.0.0.3:36000",
			"PADDLE_TRAINERS":          "10.0.0.3",
			"PADDLE_TRAINERS_NUM":      "1",
		}},
		"IPv6": {paddleJob(0, 1), Addresses{RoleWorker: {"fd00::1"}}, map[string]string{
			"PADDLE_PORT":              "36000",
			"TRAINER_PORTS_NUM":        "20",
			"PADDLE_TRAINER_ENDPOINTS": "[fd00::1]:36000",
			"PADDLE_TRAINERS":          "fd00::1",
			"PADDLE_TRAINERS_NUM":      "1",
		}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, ConfigMap(c.job, c.addresses, "g", Config{}).Data)
			// The names are known without addresses; the notice about overridden variables relies on it.
			known := contract(c.job, nil, 0, Config{})
			require.Len(t, known, len(c.want))
			for name := range c.want {
				require.Contains(t, known, name)
			}
		})
	}
}

func TestConfigMapMetadata(t *testing.T) {
	got := ConfigMap(paddleJob(0, 2), Addresses{}, "abc", Config{})
	require.Equal(t, "ConfigMap", got.Kind)
	require.Equal(t, "v1", got.APIVersion)
	require.Equal(t, "wide", got.Name)
	require.Equal(t, "train", got.Namespace)
	require.Equal(t, map[string]string{v1.JobNameLabel: "wide", v1.ResourceNameLabel: "wide", v1.ExcludeFromBackupLabel: "true"}, got.Labels)
	require.Equal(t, map[string]string{v1.GangAnnotation: "abc"}, got.Annotations)
	require.Equal(t, "PaddleJob", got.OwnerReferences[0].Kind)
	require.EqualValues(t, "0f1e", got.OwnerReferences[0].UID)
	require.Empty(t, ConfigMap(paddleJob(0, 2), Addresses{}, "", Config{}).Annotations)
}

func TestServiceAddresses(t *testing.T) {
	require.Equal(t, Addresses{
		RolePS:     {"wide-ps-0.wide"},
		RoleWorker: {"wide-worker-0.wide", "wide-worker-1.wide"},
	}, ServiceAddresses(paddleJob(1, 2)))
}

func gangOfThree() []*corev1.Pod {
	return []*corev1.Pod{
		pod("wide", RoleWorker, "1", "10.0.0.3"),
		pod("wide", RolePS, "0", "10.0.0.1"),
		pod("wide", RoleWorker, "0", "10.0.0.2"),
	}
}

func TestPodAddresses(t *testing.T) {
	addresses, gang, missing := PodAddresses(paddleJob(1, 2), gangOfThree())
	require.Empty(t, missing)
	require.NotEmpty(t, gang)
	require.Equal(t, Addresses{RolePS: {"10.0.0.1"}, RoleWorker: {"10.0.0.2", "10.0.0.3"}}, addresses)

	reversed := gangOfThree()
	slices.Reverse(reversed)
	_, same, _ := PodAddresses(paddleJob(1, 2), reversed)
	require.Equal(t, gang, same, "the order of the pods decides nothing")
}

// Each change is to pod wide-worker-0 of a whole gang.
func TestPodAddressesLeavesOut(t *testing.T) {
	_, whole, _ := PodAddresses(paddleJob(1, 2), gangOfThree())
	cases := map[string]func(*corev1.Pod){
		"no IP":          func(p *corev1.Pod) { p.Status.PodIP = "" },
		"failed":         func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed },
		"being deleted":  func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{} },
		"out of sync":    func(p *corev1.Pod) { p.Annotations[v1.OutOfSyncAnnotation] = "true" },
		"no index":       func(p *corev1.Pod) { p.Labels = nil },
		"no role":        func(p *corev1.Pod) { p.Annotations = nil },
		"another's name": func(p *corev1.Pod) { p.Name = "wide-worker-00" },
	}
	for name, apply := range cases {
		t.Run(name, func(t *testing.T) {
			pods := gangOfThree()
			apply(pods[2])
			addresses, gang, missing := PodAddresses(paddleJob(1, 2), pods)
			require.Equal(t, []string{"wide-worker-0"}, missing)
			require.Equal(t, []string{"", "10.0.0.3"}, addresses[RoleWorker])
			require.NotEqual(t, whole, gang)
		})
	}
	_, _, missing := PodAddresses(paddleJob(1, 2), nil)
	require.Equal(t, []string{"wide-ps-0", "wide-worker-0", "wide-worker-1"}, missing)
}

func TestPodAddressesDistinguishesGangs(t *testing.T) {
	_, first, _ := PodAddresses(paddleJob(1, 2), gangOfThree())
	for name, apply := range map[string]func(*corev1.Pod){
		"recreated with the same IP": func(p *corev1.Pod) { p.UID = "another" },
		"another IP":                 func(p *corev1.Pod) { p.Status.PodIP = "10.0.0.9" },
	} {
		pods := gangOfThree()
		apply(pods[0])
		_, gang, missing := PodAddresses(paddleJob(1, 2), pods)
		require.Empty(t, missing)
		require.NotEqual(t, first, gang, name)
	}
	// Pods that have succeeded still belong to the gang, and those beyond the replicas do not.
	pods := gangOfThree()
	pods[0].Status.Phase = corev1.PodSucceeded
	pods = append(pods, pod("wide", RoleWorker, "2", "10.0.0.4"), pod("wide", RoleWorker, "-1", "10.0.0.5"), pod("other", RolePS, "0", "10.0.0.6"))
	addresses, gang, missing := PodAddresses(paddleJob(1, 2), pods)
	require.Empty(t, missing)
	require.Equal(t, first, gang)
	require.Len(t, addresses[RoleWorker], 2)
}

func TestAddressPrefix(t *testing.T) {
	for name, c := range map[string]struct {
		addresses   Addresses
		short, long string
	}{
		"none":                 {Addresses{RolePS: {"10.0.0.1"}, RoleWorker: {"10.0.0.2", "10.0.0.3"}}, "", ""},
		"across roles":         {Addresses{RolePS: {"10.0.0.12"}, RoleWorker: {"10.0.0.2", "10.0.0.1"}}, "10.0.0.1", "10.0.0.12"},
		"with one between":     {Addresses{RolePS: {"10.0.0.1", "10.0.0.10"}, RoleWorker: {"10.0.0.12"}}, "10.0.0.1", "10.0.0.10"},
		"one host for two":     {Addresses{RolePS: {"10.0.0.1"}, RoleWorker: {"10.0.0.1"}}, "", ""},
		"names":                {ServiceAddresses(paddleJob(12, 12)), "", ""},
		"a digit in the way":   {Addresses{RolePS: {"10.0.0.1", "10.0.1.1"}}, "", ""},
		"nothing to compare":   {Addresses{}, "", ""},
		"first of its octet":   {Addresses{RoleWorker: {"10.0.10.1", "10.0.1.1", "10.0.1.11"}}, "10.0.1.1", "10.0.1.11"},
		"others lie around it": {Addresses{RoleWorker: {"10.0.0.2", "10.0.0.19", "10.0.0.20", "10.0.0.3"}}, "10.0.0.2", "10.0.0.20"},
	} {
		t.Run(name, func(t *testing.T) {
			short, long := AddressPrefix(c.addresses)
			require.Equal(t, []string{c.short, c.long}, []string{short, long})
		})
	}
}
