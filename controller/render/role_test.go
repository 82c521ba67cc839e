// SPDX-License-Identifier: Apache-2.0

package render

import (
	"testing"

	"github.com/stretchr/testify/require"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
)

func TestMode(t *testing.T) {
	require.Equal(t, v1.ModePS, Mode(paddleJob(1, 1)))
	require.Equal(t, v1.ModePS, Mode(paddleJob(1, 0)))
	require.Equal(t, v1.ModeCollective, Mode(paddleJob(0, 2)))
	require.Equal(t, v1.ModeSingle, Mode(paddleJob(0, 1)))
	require.Equal(t, v1.ModeSingle, Mode(paddleJob(0, 0)))
}

func TestIntranet(t *testing.T) {
	require.Equal(t, v1.PodIP, Intranet(paddleJob(0, 1), Config{}))
	require.Equal(t, v1.Service, Intranet(paddleJob(0, 1), Config{DefaultIntranet: v1.Service}))
	require.Equal(t, v1.PodIP, Intranet(paddleJob(0, 1, intranet(v1.PodIP)), Config{DefaultIntranet: v1.Service}))
	misspelt := paddleJob(0, 2, intranet("service"))
	require.Equal(t, v1.PodIP, Intranet(misspelt, Config{DefaultIntranet: v1.Service}), "as with paddle-operator")
	_, told := mustJob(t, misspelt)
	requireNotice(t, told, ReasonIntranet, "spec.intranet", `"service"`, "PodIP, Service or Host")
}
