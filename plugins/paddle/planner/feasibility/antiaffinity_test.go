// SPDX-License-Identifier: Apache-2.0

package feasibility

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"volcano.sh/volcano/pkg/scheduler/api"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

func TestConflict(t *testing.T) {
	udp := func(p *corev1.Pod) {
		withHostPort(80)(p)
		p.Spec.Containers[0].Ports[0].Protocol = corev1.ProtocolUDP
	}
	hostNetwork := func(p *corev1.Pod) {
		p.Spec.HostNetwork = true
		p.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 80}}
	}
	for name, test := range map[string]struct {
		server, worker func(*corev1.Pod)
		want           bool
	}{
		"nothing":                       {unchanged, unchanged, false},
		"one host port":                 {withHostPort(80), withHostPort(80), true},
		"two host ports":                {withHostPort(80), withHostPort(81), false},
		"two protocols":                 {withHostPort(80), udp, false},
		"host network":                  {withHostPort(80), hostNetwork, true},
		"anti-affinity to the other":    {withAntiAffinity(term("worker", corev1.LabelHostname)), unchanged, true},
		"anti-affinity to others":       {withAntiAffinity(term("other", corev1.LabelHostname)), unchanged, false},
		"anti-affinity within racks":    {withAntiAffinity(term("worker", "rack")), unchanged, false},
		"affinity":                      {withAffinity(term("worker", corev1.LabelHostname)), unchanged, false},
		"anti-affinity to its own pods": {withAntiAffinity(term("ps", corev1.LabelHostname)), unchanged, false},
		"anti-affinity of another space": {func(p *corev1.Pod) {
			terms := term("worker", corev1.LabelHostname)
			terms[0].Namespaces = []string{"other"}
			withAntiAffinity(terms)(p)
		}, unchanged, false},
	} {
		t.Run(name, func(t *testing.T) {
			server, worker := pod("ps", 0, test.server), pod("worker", 0, test.worker)
			require.Equal(t, test.want, conflict(server, worker))
			require.Equal(t, test.want, conflict(worker, server))
		})
	}
}

// Servers and workers have one host port in common, evaluators have another one; a server is on n1.
func TestRequestSlots(t *testing.T) {
	job := api.NewJobInfo("ns/j")
	var pending [][]*api.TaskInfo
	for role, port := range map[string]int32{"ps": 80, "worker": 80, "eval": 81, "plain": 0} {
		of := api.NewTaskInfo(pod(role, 0, func(p *corev1.Pod) {
			if port > 0 {
				withHostPort(port)(p)
			}
		}))
		of.UID = api.TaskID(role)
		job.AddTaskInfo(of)
	}
	for _, role := range []api.TaskID{"ps", "worker", "eval", "plain"} {
		pending = append(pending, []*api.TaskInfo{job.Tasks[role]})
	}
	pending = append(pending, nil)
	names := SlotResources(job)
	require.Equal(t, []string{slotResource + "node-of-its-own", slotResource + "node-of-its-own-2", slotResource + "node-of-its-own-3"}, names)

	demand := func() *placement.Demand {
		d := &placement.Demand{Roles: make([]placement.Role, len(pending))}
		for r := range d.Roles {
			d.Roles[r].Request = make([]int64, 1+len(names))
		}
		d.Roles[0].Placed = []placement.Placed{{Node: 1}}
		return d
	}
	topology, d := topologyOf(t, 2, names...), demand()
	mark := topology.Begin()
	require.NoError(t, RequestSlots(topology, d, pending))
	for r, want := range [][]int64{{0, 1, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}} {
		require.Equal(t, want, d.Roles[r].Request)
	}
	require.Equal(t, []int64{0, 1, 1, 0}, topology.Free(0))
	require.Equal(t, []int64{0, 0, 1, 0}, topology.Free(1), "the server has the slot")
	topology.Rollback(mark)
	require.Equal(t, []int64{0, 0, 0, 0}, topology.Free(0))

	topology, d = topologyOf(t, 2), demand()
	require.NoError(t, RequestSlots(topology, d, pending), "predicates find out")
	require.Equal(t, []int64{0, 0, 0, 0}, d.Roles[0].Request)
}
