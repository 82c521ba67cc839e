// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/snapshot"
	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
)

// The job was placed in two blocks, because other jobs held the nodes between.
//
//	          b1                     b2
//	   r1            r2              r3
//	n1     n2      n3     n4       n5     n6
//	2      2                       2      2    of its workers with 2 GPUs each
func TestIdeal(t *testing.T) {
	on := []string{"n1", "n1", "n2", "n2", "n5", "n5", "n6", "n6"}
	runs := func() *snapshot.Snapshot {
		s := cluster6()
		waits(s, ring("j", len(on), 2))
		s.PodGroups[0].Status.Phase = vcscheduling.PodGroupRunning
		s.Pods = newCluster(s).podsOf(s.Jobs[0])
		for i, pod := range s.Pods {
			pod.Spec.NodeName, pod.Status.Phase = on[i], corev1.PodRunning
		}
		s.Jobs, s.Queues = nil, nil
		return s
	}
	s := runs()
	best, err := Ideal(s)
	require.NoError(t, err)
	require.Equal(t, "3.75 times the model between nodes", best.Traffic(), "16 GPUs are two nodes of one rack")
	require.Equal(t, "n1", s.Pods[0].Spec.NodeName, "the snapshot stays as it is")
	require.Equal(t, vcscheduling.PodGroupRunning, s.PodGroups[0].Status.Phase)

	s.Pods[7].Status.Phase = corev1.PodSucceeded
	s.PodGroups[0].Spec.MinMember = 7
	s.PodGroups[0].Spec.MinTaskMember = nil
	less, err := Ideal(s)
	require.NoError(t, err)
	require.NotEqual(t, best.Traffic(), less.Traffic(), "a pod that has ended sends nothing")

	// Where the model's size and the links' widths are known, the busiest link has a time.
	s = runs()
	s.SchedulerConfiguration = strings.Replace(configuration, "{topology-labels: \"rack, block\"}", "{topology-labels: \"rack, block\", tier-bandwidths: \"100Gbps, 400Gbps, 1600Gbps\"}", 1)
	s.PodGroups[0].Annotations = map[string]string{v1.ParameterSizeAnnotation: "10G"}
	best, err = Ideal(s)
	require.NoError(t, err)
	require.Equal(t, "35 GiB between nodes", best.Traffic())
	require.Equal(t, "1.5 s of each step, between nodes", best.Busiest())

	s = runs()
	s.Nodes = s.Nodes[:1] // the others were removed
	best, err = Ideal(s)
	require.NoError(t, err)
	require.Nil(t, best)
}
