// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	"github.com/paddle-volcano/paddle-volcano/controller/keys"
	"github.com/paddle-volcano/paddle-volcano/controller/render"
	"github.com/paddle-volcano/paddle-volcano/controller/view"
)

// A kubelet that has looked for the environment in vain looks again when the pod changes.
func TestPodsThatFoundNoEnvironmentAreWoken(t *testing.T) {
	t.Parallel()
	waits := func(reason string) []corev1.ContainerStatus {
		return []corev1.ContainerStatus{{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}}}}
	}
	pods := func(v *view.View) {
		v.Pods[0].Status.InitContainerStatuses = waits(reasonNoConfig)
		v.Pods[1].Status.ContainerStatuses = waits(reasonNoConfig)
		v.Pods[2].Status.ContainerStatuses = waits("ContainerCreating")
	}
	starting := []change{with(render.RolePS, view.Starting), with(render.RoleWorker, view.Starting, view.Starting), pods}
	require.Equal(t, []string{"create environment"}, done(Decide(created(t, vcbatch.Pending, starting...), config)), "it is written first")
	v := created(t, vcbatch.Pending, append(starting, environmentOf)...)
	require.Equal(t, []string{"annotate " + v.Pods[0].Name + ": " + keys.Gang, "annotate " + v.Pods[1].Name + ": " + keys.Gang}, done(Decide(v, config)))
	for _, pod := range v.Pods {
		pod.Annotations[keys.Gang] = v.Environment.Annotations[keys.Gang]
	}
	require.Empty(t, done(Decide(v, config)), "once")
	v.Pods[0].Annotations[keys.Gang] = "another"
	require.Len(t, done(Decide(v, config)), 1, "and once more in the next gang")
}
