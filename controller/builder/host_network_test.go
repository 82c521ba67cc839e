// SPDX-License-Identifier: Apache-2.0

package builder

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
)

// The longest variables of the largest role that is allowed must fit into what Linux takes.
func TestMaxPodsFit(t *testing.T) {
	const limit = 32 * 4096
	for _, name := range []string{"a", "wide", strings.Repeat("n", 50)} {
		for _, network := range []v1.Intranet{v1.PodIP, v1.Service} {
			most := MaxPods(paddleJob(0, 1, named(name), intranet(network)), RoleWorker, Config{})
			job := paddleJob(0, most, named(name))
			hosts := ServiceAddresses(job)
			names := len("VC_WORKER_HOSTS="+strings.Join(hosts[RoleWorker], ",")) + 1
			if network == v1.PodIP {
				for i := range hosts[RoleWorker] {
					hosts[RoleWorker][i] = "255.255.255.255"
				}
			}
			longest := len("PADDLE_TRAINER_ENDPOINTS="+contract(job, hosts, 0, Config{})["PADDLE_TRAINER_ENDPOINTS"]) + 1
			require.Less(t, max(names, longest), limit)
			require.Greater(t, max(names, longest), limit*95/100, "fewer pods are allowed than would fit")
		}
	}
}

func TestHostNetworkIsReported(t *testing.T) {
	own := workerPod(func(spec *corev1.PodSpec) { spec.HostNetwork = true })
	affinity := func(key string) change {
		return workerPod(func(spec *corev1.PodSpec) {
			spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{TopologyKey: key, LabelSelector: &metav1.LabelSelector{}}},
			}}
		})
	}
	for name, c := range map[string]struct {
		job   *v1.PaddleJob
		words []string
	}{
		"collective":               {paddleJob(0, 2, onHosts), []string{"counts nodes by their addresses", "before 2.3"}},
		"servers":                  {paddleJob(2, 2, onHosts), []string{"python train.py", "paddle.distributed.launch"}},
		"one worker":               {paddleJob(0, 1, onHosts), nil},
		"elastic":                  {paddleJob(0, 2, onHosts, elastic(1, 2), etcdAt("kv:1")), nil},
		"kept apart":               {paddleJob(0, 2, onHosts, affinity(corev1.LabelHostname)), nil},
		"kept apart by zone":       {paddleJob(0, 2, onHosts, affinity(corev1.LabelTopologyZone)), []string{"counts nodes"}},
		"the template's own":       {paddleJob(0, 2, own), []string{"spec.worker.template.spec.hostNetwork", "spec.intranet: Host", "36000"}},
		"the template's own, too":  {paddleJob(0, 2, own, onHosts), []string{"counts nodes"}},
		"the template's own, once": {paddleJob(0, 1, own), nil},
	} {
		t.Run(name, func(t *testing.T) {
			_, warnings := mustJob(t, c.job)
			if c.words == nil {
				require.Empty(t, warnings)
				return
			}
			require.Len(t, warnings, 1)
			requireCause(t, warnings, ReasonHostNetwork, c.words...)
		})
	}
}
