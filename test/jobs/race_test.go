// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"context"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

// down ends a component and returns how to start it again, which the end of the test does at the latest.
func down(t *testing.T, component string, signal syscall.Signal) (up func()) {
	t.Helper()
	require.NoError(t, cluster.Kill(component, signal))
	started := false
	up = func() {
		if !started {
			started = true
			if component == sandbox.Controller { // which would wait for the lease of one that was killed
				leases := cluster.Kube.CoordinationV1().Leases("paddle-system")
				require.NoError(t, leases.DeleteCollection(context.Background(), metav1.DeleteOptions{}, metav1.ListOptions{}))
			}
			require.NoError(t, cluster.StartComponent(component))
		}
	}
	t.Cleanup(up)
	return up
}

// awaitPodGroup waits for a job's PodGroup, and for more of it where wanted.
func awaitPodGroup(t *testing.T, job *v1.PaddleJob, want func(*vcscheduling.PodGroup) bool) *vcscheduling.PodGroup {
	t.Helper()
	name := job.Name + "-" + string(awaitVolcanoJob(t, job, nil).UID)
	var found *vcscheduling.PodGroup
	cluster.Await(t, "the PodGroup of "+job.Name, func(ctx context.Context) error {
		group, err := cluster.Volcano.SchedulingV1beta1().PodGroups(job.Namespace).Get(ctx, name, metav1.GetOptions{})
		if err == nil && want != nil && !want(group) {
			err = fmt.Errorf("it is %v", group)
		}
		found = group
		return err
	})
	return found
}

// managers are those that ever wrote a part of an object other than its status.
func managers(object metav1.Object) []string {
	var names []string
	for _, entry := range object.GetManagedFields() {
		if entry.Subresource == "" {
			names = append(names, entry.Manager+" "+string(entry.Operation))
		}
	}
	return names
}

// Either controller may be the first to make the PodGroup of a Volcano Job. Not parallel: each is down for a while.
func TestPodGroupRace(t *testing.T) {
	startVolcano := down(t, sandbox.VolcanoController, syscall.SIGTERM)
	// Pods that never fit keep the scheduler from touching more than the status.
	first := create(t, psJob(cluster.Namespace(t), "race", onNodes("none.has/this")))
	second := create(t, psJob(cluster.NamespaceNamed(t, "volcano-first"), "race", onNodes("none.has/this")))
	ours, lost := awaitPodGroup(t, first, nil), awaitPodGroup(t, second, nil)
	require.Contains(t, managers(ours), "paddlejob-controller Update")
	startOurs := down(t, sandbox.Controller, syscall.SIGTERM)
	require.NoError(t, cluster.Volcano.SchedulingV1beta1().PodGroups(second.Namespace).Delete(t.Context(), lost.Name, metav1.DeleteOptions{}))
	startVolcano()

	later := awaitPodGroup(t, first, func(g *vcscheduling.PodGroup) bool { return len(g.Status.Conditions) > 0 })
	require.Equal(t, ours.UID, later.UID)
	require.NotContains(t, managers(later), "vc-controller-manager Update", "Volcano had nothing to change")
	require.Equal(t, ours.Spec, later.Spec)
	theirs := awaitPodGroup(t, second, func(g *vcscheduling.PodGroup) bool { return g.UID != lost.UID && len(g.Status.Conditions) > 0 })
	require.NotContains(t, strings.Join(managers(theirs), ","), "paddlejob-controller")
	require.Equal(t, lost.Spec, theirs.Spec, "both make the same")

	startOurs()
	awaitReason(t, second)
	later = awaitPodGroup(t, second, nil)
	require.Equal(t, theirs.UID, later.UID)
	require.NotContains(t, strings.Join(managers(later), ","), "paddlejob-controller", "the controller had nothing to change")
	edit(t, first, func(job *v1.PaddleJob) {
		job.Spec.PS.Template.Spec.NodeSelector, job.Spec.Worker.Template.Spec.NodeSelector = nil, nil
	}, workersRunFor("1s"))
	awaitPhase(t, first, v1.Completed)
}

// What the controller puts back it owns, and not the sums and policies that Volcano's Job controller works out.
func TestPodGroupIsMendedByApply(t *testing.T) {
	t.Parallel()
	job := create(t, psJob(cluster.Namespace(t), "mended", onNodes("none.has/this")))
	whole := awaitPodGroup(t, job, nil)
	// The scheduler's report is the scheduler's to write again.
	delete(whole.Annotations, report.Annotation)
	_, err := cluster.Volcano.SchedulingV1beta1().PodGroups(job.Namespace).Patch(t.Context(), whole.Name, types.MergePatchType,
		[]byte(`{"metadata":{"labels":null,"annotations":null},"spec":{"queue":"default","minMember":1}}`), metav1.PatchOptions{FieldManager: "somebody"})
	require.NoError(t, err)
	mended := awaitPodGroup(t, job, func(g *vcscheduling.PodGroup) bool { return g.Labels[v1.JobNameLabel] == job.Name })
	require.Equal(t, whole.UID, mended.UID)
	require.Equal(t, whole.Labels, mended.Labels)
	require.Subset(t, mended.Annotations, whole.Annotations)
	require.Equal(t, whole.Spec, mended.Spec)
	found := false
	for _, entry := range mended.ManagedFields {
		if entry.Manager == "paddlejob-controller" && entry.Operation == metav1.ManagedFieldsOperationApply {
			found = true
			for _, field := range []string{"minResources", "priorityClassName", "subGroupPolicy"} {
				require.NotContains(t, string(entry.FieldsV1.Raw), field)
			}
			require.Contains(t, string(entry.FieldsV1.Raw), "f:queue")
		}
	}
	require.True(t, found, "%v", managers(mended))
}
