// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"testing"

	"github.com/stretchr/testify/require"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	"github.com/paddle-volcano/paddle-volcano/controller/render"
	"github.com/paddle-volcano/paddle-volcano/controller/view"
)

func TestAddressesThatPaddleCannotReadStallTheJob(t *testing.T) {
	v := created(t, vcbatch.Running,
		with(render.RolePS, view.Starting), with(render.RoleWorker, view.Starting, view.Starting))
	for _, pod := range v.Pods {
		pod.Status.PodIP = "fd00::1"
	}
	plan := Decide(v, config)
	require.NotNil(t, plan.Stalled)
	require.Equal(t, ReasonIPv6, plan.Stalled.Reason)
	require.Contains(t, plan.Stalled.Message, "intranet: Service")
	for _, action := range plan.Actions {
		_, writes := action.(WriteEnvironment)
		require.False(t, writes)
	}
}
