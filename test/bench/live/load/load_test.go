// SPDX-License-Identifier: Apache-2.0

package load

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	"github.com/paddle-volcano/paddle-volcano/controller/validation"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox/stages"
)

func TestFit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		gangs, gang, nodes int
		scale              float64
		want               [2]int
	}{
		{500, 20, 5000, 1, [2]int{500, 20}},
		{500, 20, 5000, 0.4, [2]int{200, 20}},
		{10000, 1, 500, 1, [2]int{3200, 1}},
		{20, 500, 500, 1, [2]int{6, 500}},
		{1, 5000, 5000, 0.4, [2]int{1, 2000}},
		{20, 500, 5, 1, [2]int{1, 32}},
		{500, 20, 5000, 0.00001, [2]int{1, 1}},
	} {
		gangs, gang := Fit(c.gangs, c.gang, c.nodes, c.scale)
		require.Equal(t, c.want, [2]int{gangs, gang}, "%+v", c)
	}
}

func TestGangsAreTheSameInAllForms(t *testing.T) {
	t.Parallel()
	for gang, servers := range map[int]int{1: 0, 4: 0, 5: 1, 20: 4} {
		l := Load{Gangs: 2, Gang: gang, Scheduler: "volcano"}
		require.Equal(t, 2*gang, l.Pods())
		job := l.paddleJob(1)
		require.Empty(t, validation.Validate(job, builder.PodGroupOverrides{}, builder.Config{}))
		raw := rawJob(job, "")
		require.EqualValues(t, gang, raw.Spec.MinAvailable)
		pods, names := map[string]int{}, []string{}
		for m := range gang {
			pods[l.pod(1, m).Labels["paddle-res-type"]]++
			names = append(names, l.pod(1, m).Name)
		}
		var want []string
		for m := range gang {
			if m < servers {
				want = append(want, fmt.Sprintf("%s-ps-%d", l.Name(1), m))
			} else {
				want = append(want, fmt.Sprintf("%s-worker-%d", l.Name(1), m-servers))
			}
		}
		require.Equal(t, want, names)
		require.Equal(t, servers, pods["ps"])
		for _, task := range raw.Spec.Tasks {
			require.EqualValues(t, pods[task.Name], task.Replicas, task.Name)
			require.Equal(t, l.pod(1, 0).Spec.Containers[0].Resources, task.Template.Spec.Containers[0].Resources)
		}
		require.EqualValues(t, gang, l.podGroup(1).Spec.MinMember)
		require.EqualValues(t, gang, l.podGroup(1).Spec.MinResources.Name(gpu, "").Value())
		require.Equal(t, gang, len(l.objects(nil, 1))-1, "the PodGroup")
	}
}

// Jobs that are compared have equal pods; what the raw one lacks is made by the controller, and what the bare one lacks is the
// init container.
func TestRawJobsAreEqual(t *testing.T) {
	t.Parallel()
	job := Load{Gang: 10, NoGPUs: true, RunFor: time.Minute}.paddleJob(7)
	require.Empty(t, validation.Validate(job, builder.PodGroupOverrides{}, builder.Config{}))
	raw, bare := rawJob(job, "barrier"), rawJob(job, "")
	require.Equal(t, job.Name, raw.Name)
	require.Empty(t, raw.OwnerReferences)
	require.Len(t, raw.Spec.Tasks, 2)
	for i, runFor := range []string{"forever", "1m0s"} {
		pod := &raw.Spec.Tasks[i].Template
		require.Equal(t, runFor, pod.Annotations[stages.AnnotationRunFor])
		require.Empty(t, pod.Spec.Containers[0].EnvFrom)
		require.NotEmpty(t, pod.Spec.Containers[0].Env)
		require.NotContains(t, pod.Spec.Containers[0].Resources.Requests, gpu)
		require.Empty(t, pod.Spec.Containers[0].Resources.Limits)
		require.Len(t, pod.Spec.InitContainers, 1)
		require.Empty(t, pod.Spec.InitContainers[0].EnvFrom)
		pod.Spec.InitContainers = nil
	}
	require.Equal(t, bare, raw)
}

func TestCluster(t *testing.T) {
	t.Parallel()
	cluster := Cluster(130)
	require.NoError(t, cluster.Validate())
	require.Len(t, cluster.Nodes(), 130)
	require.Len(t, cluster.Blocks, 2)
	require.Len(t, cluster.Blocks[0].Racks, 8)
}
