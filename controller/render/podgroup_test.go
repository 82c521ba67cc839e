// SPDX-License-Identifier: Apache-2.0

package render

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
)

func noPriority(string) int32 { return 0 }

func TestPodGroup(t *testing.T) {
	job, _ := mustJob(t, paddleJob(2, 4, minAvailable(4)))
	job.UID = "77"
	job.Spec.Queue, job.Spec.PriorityClassName = "q", "high"
	got := PodGroup(job, noPriority)
	require.Equal(t, metav1.TypeMeta{APIVersion: "scheduling.volcano.sh/v1beta1", Kind: "PodGroup"}, got.TypeMeta)
	require.Equal(t, "wide-77", got.Name)
	require.Equal(t, "train", got.Namespace)
	require.Equal(t, job.Labels, got.Labels)
	require.Equal(t, job.Annotations, got.Annotations)
	require.Equal(t, []metav1.OwnerReference{{
		APIVersion: "batch.volcano.sh/v1alpha1", Kind: "Job", Name: "wide", UID: "77",
		Controller: ptr.To(true), BlockOwnerDeletion: ptr.To(true),
	}}, got.OwnerReferences)
	require.EqualValues(t, 4, got.Spec.MinMember)
	require.Equal(t, map[string]int32{"ps": 2, "worker": 2}, got.Spec.MinTaskMember)
	require.Equal(t, "q", got.Spec.Queue)
	require.Equal(t, "high", got.Spec.PriorityClassName)
	require.Equal(t, map[string]string{"pods": "4", "count/pods": "4"}, text(*got.Spec.MinResources))
	require.Nil(t, got.Spec.NetworkTopology)
	require.Empty(t, got.Spec.SubGroupPolicy)

	got.Labels["a"] = "b"
	require.NotContains(t, job.Labels, "a", "what is rendered shares memory with the Job")
}

func TestPodGroupTaskMinimum(t *testing.T) {
	parts := func(least, size int32) *vcbatch.PartitionPolicySpec {
		return &vcbatch.PartitionPolicySpec{MinPartitions: least, PartitionSize: size}
	}
	cases := map[string]struct {
		task vcbatch.TaskSpec
		want int32
	}{
		"its own":              {vcbatch.TaskSpec{Replicas: 6, MinAvailable: ptr.To[int32](3), PartitionPolicy: parts(2, 2)}, 3},
		"parts":                {vcbatch.TaskSpec{Replicas: 6, PartitionPolicy: parts(2, 2)}, 4},
		"no minimum of parts":  {vcbatch.TaskSpec{Replicas: 6, PartitionPolicy: parts(0, 2)}, 6},
		"parts without a size": {vcbatch.TaskSpec{Replicas: 6, PartitionPolicy: parts(2, 0)}, 6},
		"all":                  {vcbatch.TaskSpec{Replicas: 6}, 6},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			c.task.Name = "t"
			got := PodGroup(&vcbatch.Job{Spec: vcbatch.JobSpec{Tasks: []vcbatch.TaskSpec{c.task}}}, noPriority)
			require.Equal(t, map[string]int32{"t": c.want}, got.Spec.MinTaskMember)
		})
	}
}

func TestPodGroupTopology(t *testing.T) {
	topology := &vcbatch.NetworkTopologySpec{Mode: vcbatch.HardNetworkTopologyMode, HighestTierAllowed: ptr.To(2), HighestTierName: "rack"}
	job := &vcbatch.Job{Spec: vcbatch.JobSpec{
		NetworkTopology: topology,
		Tasks: []vcbatch.TaskSpec{
			{Name: "plain", Replicas: 1},
			{Name: "parted", Replicas: 4, PartitionPolicy: &vcbatch.PartitionPolicySpec{
				TotalPartitions: 2, PartitionSize: 2, MinPartitions: 1, NetworkTopology: topology,
			}},
			{Name: "loose", Replicas: 4, PartitionPolicy: &vcbatch.PartitionPolicySpec{TotalPartitions: 4, PartitionSize: 1}},
		},
	}}
	got := PodGroup(job, noPriority).Spec
	hard := vcscheduling.HardNetworkTopologyMode
	require.Equal(t, &vcscheduling.NetworkTopologySpec{Mode: hard, HighestTierAllowed: ptr.To(2)}, got.NetworkTopology)
	selector := func(task string) *metav1.LabelSelector {
		return &metav1.LabelSelector{MatchLabels: map[string]string{"volcano.sh/task-spec": task}}
	}
	require.Equal(t, []vcscheduling.SubGroupPolicySpec{
		{
			Name: "parted", SubGroupSize: ptr.To[int32](2), MinSubGroups: ptr.To[int32](1),
			LabelSelector: selector("parted"), MatchLabelKeys: []string{"volcano.sh/partition-id"},
			// Of a part's topology Volcano copies both.
			NetworkTopology: &vcscheduling.NetworkTopologySpec{Mode: hard, HighestTierAllowed: ptr.To(2), HighestTierName: "rack"},
		},
		{
			Name: "loose", SubGroupSize: ptr.To[int32](1), MinSubGroups: ptr.To[int32](0),
			LabelSelector: selector("loose"), MatchLabelKeys: []string{"volcano.sh/partition-id"},
		},
	}, got.SubGroupPolicy)

	*got.NetworkTopology.HighestTierAllowed = 9
	require.Equal(t, 2, *topology.HighestTierAllowed, "what is rendered shares memory with the Job")
	topology.HighestTierAllowed = nil
	require.Equal(t, "rack", PodGroup(job, noPriority).Spec.NetworkTopology.HighestTierName)
}
