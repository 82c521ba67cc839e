// SPDX-License-Identifier: Apache-2.0

package render

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
)

func TestHostIsChecked(t *testing.T) {
	few := Config{HostPorts: Ports{First: 20000, Count: 99}}
	port := func(host int32) change {
		return workerContainer(func(c *corev1.Container) { c.Ports = []corev1.ContainerPort{{ContainerPort: 8040, HostPort: host}} })
	}
	require.Empty(t, Validate(paddleJob(2, 2, onHosts), Wish{}, few))
	require.Empty(t, Validate(paddleJob(0, 2, onHosts, port(8040)), Wish{}, Config{}))
	require.Empty(t, Validate(paddleJob(0, 2, onHosts, port(0)), Wish{}, Config{}))
	require.Empty(t, Validate(paddleJob(0, 2, port(8041)), Wish{}, Config{}))
	require.Empty(t, Validate(paddleJob(0, 6, onHosts, elastic(1, 6), etcdAt("kv:1")), Wish{}, few), "elastic workers choose themselves")
	found := Validate(paddleJob(2, 3, onHosts), Wish{}, few)
	require.Len(t, found, 1)
	requireNotice(t, found, ReasonTooManyPods, "5 pods", "20000-20098", "--host-ports")
	found = Validate(paddleJob(0, 2, onHosts, port(8041)), Wish{}, Config{})
	require.Len(t, found, 1)
	requireNotice(t, found, ReasonInvalidTemplate, "spec.worker.template.spec.containers[0].ports", "hostPort 8041")
}

func TestHostNetworkIsTold(t *testing.T) {
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
			_, told := mustJob(t, c.job)
			if c.words == nil {
				require.Empty(t, told)
				return
			}
			require.Len(t, told, 1)
			requireNotice(t, told, ReasonHostNetwork, c.words...)
		})
	}
}
