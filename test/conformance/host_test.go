// SPDX-License-Identifier: Apache-2.0

package conformance_test

import (
	"fmt"
	"maps"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	"github.com/paddle-volcano/paddle-volcano/test/conformance"
	"github.com/paddle-volcano/paddle-volcano/test/conformance/rules"
)

// onNodes puts the pods onto nodes, and gives them the annotations of the controller: a whole node for each, or each node for one
// pod of every role.
func (r *run) onNodes(first int, shared bool) {
	r.first = first
	for i, pod := range r.pods {
		node := i
		if shared {
			node, _ = strconv.Atoi(pod.Labels[vcbatch.TaskIndex])
		}
		pod.Status.PodIP = fmt.Sprintf("10.1.%d.%d", node/100, 100+node%100)
	}
	r.announce()
}

// announce sets the annotations that the pods' templates read.
func (r *run) announce() {
	for _, pod := range r.pods {
		maps.Copy(pod.Annotations, builder.PodAnnotations(r.job, r.first, pod))
	}
}

// With intranet Host pods share nodes, addresses and so ports, with each other and with those of other jobs.
func TestEveryJobTrainsOnHosts(t *testing.T) {
	for _, test := range []struct {
		shape
		shared bool
	}{
		{shape{ps: 3, workers: 3, gloo: ptr.To[int32](1)}, false},
		{shape{ps: 3, workers: 3, gloo: ptr.To[int32](2)}, true},
		{shape{ps: 2, workers: 12}, true},
		{shape{ps: 2, workers: 3, heter: 2, gloo: ptr.To[int32](1)}, false},
		{shape{ps: 2, workers: 3, heter: 2}, true},
		{shape{workers: 12}, false},
		{shape{workers: 1}, false},
		{shape{workers: 3, elastic: true}, false},
	} {
		test.intranet, test.fallback = v1.Host, v1.Intranet(strconv.FormatBool(test.shared))
		t.Run(test.name(), func(t *testing.T) {
			cfg := builder.Config{}
			run := start(t, test.job(), cfg)
			first, ok := builder.ChoosePorts(builder.HostPortsOf(cfg), builder.PortsNeeded(run.job), nil, "")
			require.True(t, ok)
			run.onNodes(first, test.shared)
			for _, pod := range run.pods {
				require.True(t, pod.Spec.HostNetwork)
			}
			gang, err := conformance.NewGang(test.mode(), run.pods, run.services, run.configMaps(t))
			require.NoError(t, err)
			require.Len(t, gang.Pods, test.ps+test.workers+test.heter)
			if !test.shared {
				require.NoError(t, gang.Check())
				return
			}
			if test.heter == 0 {
				require.ErrorContains(t, gang.Check(), "starts servers", "the message about the launcher is true")
			}
			require.NoError(t, gang.Direct().Check())
		})
	}
}

func TestTwoWorkersOnOneHostAreOneNode(t *testing.T) {
	for other := range 2 {
		run := start(t, shape{workers: 3, intranet: v1.Host, fallback: v1.Intranet("pair" + strconv.Itoa(other))}.job(), builder.Config{})
		run.onNodes(20000, false)
		run.pods[2].Status.PodIP = run.pods[other].Status.PodIP
		run.announce()
		gang, err := conformance.NewGang(conformance.Collective, run.pods, run.services, run.configMaps(t))
		require.NoError(t, err)
		require.ErrorContains(t, gang.Check(), "waits for 2 nodes, and there are 3", "the message about the launcher is true")
		require.NotContains(t, gang.Check().Error(), "both use port")
		ranks, err := gang.CheckCommand("CUDA_VISIBLE_DEVICES=0 paddleformers-cli train a.yaml", "paddleformers-cli 2026-01-28", rules.Newest)
		require.NoError(t, err, "it counts the nodes by NNODES")
		require.Equal(t, "index", ranks)
		port := gang.Pods[2].Env["PADDLE_PORT"]
		_, err = gang.CheckCommand("MASTER_PORT="+port+" CUDA_VISIBLE_DEVICES=0 paddleformers-cli train a.yaml", "paddleformers-cli 2026-01-28", rules.Newest)
		require.Equal(t, other == 0, err != nil, "the port of another pod of the master's node: %v", err)
	}
}

func TestJobsOnOneHostDoNotCollide(t *testing.T) {
	var pods []conformance.Pod
	var taken []builder.Ports
	for _, fallback := range []v1.Intranet{"one", "two", "three"} {
		run := start(t, shape{ps: 2, workers: 2, gloo: ptr.To[int32](1), intranet: v1.Host, fallback: fallback}.job(), builder.Config{})
		// The same seed: all would begin in the same place.
		first, ok := builder.ChoosePorts(builder.HostPortsOf(run.cfg), builder.PortsNeeded(run.job), taken, "")
		require.True(t, ok)
		taken = append(taken, builder.Ports{First: first, Count: builder.PortsNeeded(run.job)})
		run.onNodes(first, true)
		gang, err := conformance.NewGang(conformance.PS, run.pods, run.services, run.configMaps(t))
		require.NoError(t, err)
		require.NoError(t, gang.Direct().Check())
		pods = append(pods, gang.Pods...)
	}
	shared := 0
	for i := range pods {
		for j := range pods[:i] {
			if pods[i].IP == pods[j].IP {
				shared++
			}
			require.NoError(t, conformance.Collide(&pods[i], &pods[j]))
		}
	}
	require.Equal(t, 2*15, shared, "six pods on each of two nodes")
}

// The first address of a pod may be one that Paddle cannot use.
func TestDualStack(t *testing.T) {
	cfg := builder.Config{AnnouncePodIPs: true}
	for _, shape := range []shape{{ps: 2, workers: 2, intranet: v1.PodIP, fallback: "dual"}, {workers: 3, intranet: v1.PodIP, fallback: "dual"}} {
		run := start(t, shape.job(), cfg)
		for i, pod := range run.pods {
			four := pod.Status.PodIP
			pod.Status.PodIP = fmt.Sprintf("fd00::%d", i+1)
			pod.Status.PodIPs = []corev1.PodIP{{IP: pod.Status.PodIP}, {IP: four}}
		}
		run.announce()
		for _, pod := range run.pods {
			delete(pod.Annotations, v1.PortAnnotation)
			delete(pod.Annotations, v1.PortRangeAnnotation)
		}
		lookup := run.configMaps(t)
		for _, pod := range run.pods {
			pod.Status.PodIP = pod.Status.PodIPs[1].IP // what Paddle finds under the pod's name
		}
		gang, err := conformance.NewGang(shape.mode(), run.pods, run.services, lookup)
		require.NoError(t, err)
		require.NoError(t, gang.Check())
		for _, pod := range gang.Pods {
			require.Equal(t, pod.IP, pod.Env["PADDLE_CURRENT_IP"])
		}
	}
}
