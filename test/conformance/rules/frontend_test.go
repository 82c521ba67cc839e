// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestStartFrontEnd(t *testing.T) {
	full := map[string]string{
		"PADDLE_TRAINER_ID": "1", "PADDLE_TRAINERS": "a,b", "PADDLE_TRAINER_ENDPOINTS": "a:1,b:1", "PADDLE_TRAINERS_NUM": "2", "POD_IP": "b",
		"NNODES": "2", "MASTER_ADDR": "a", "MASTER_PORT": "9", "RANK": "1",
	}
	front, err := StartFrontEnd(full, true)
	require.NoError(t, err)
	require.Equal(t, FrontEnd{Distributed: true, Env: map[string]string{
		"POD_IP": "b", "NNODES": "2", "MASTER_ADDR": "a", "MASTER_PORT": "9", "RANK": "1",
		"PADDLE_MASTER": "a:9", "PADDLE_NNODES": "2", "PADDLE_RANK": "1",
	}}, front)
	require.Contains(t, full, "PADDLE_TRAINER_ID", "the pod's own environment stays")
	front, err = StartFrontEnd(full, false)
	require.NoError(t, err)
	require.NotContains(t, front.Env, "PADDLE_RANK")

	front, err = StartFrontEnd(map[string]string{"NNODES": "2", "MASTER_ADDR": "a", "MASTER_PORT": "9", "PADDLE_MASTER": "c:1"}, false)
	require.NoError(t, err)
	require.Equal(t, "c:1", front.Env["PADDLE_MASTER"], "variables beat arguments")

	front, err = StartFrontEnd(map[string]string{"PADDLE_TRAINER_ENDPOINTS": "a:1,b:1"}, true)
	require.NoError(t, err)
	require.Equal(t, FrontEnd{Env: map[string]string{}}, front, "without NNODES it trains alone")

	for name, env := range map[string]map[string]string{
		"NNODES":      {"NNODES": "2:4"},
		"MASTER_ADDR": {"NNODES": "2", "MASTER_PORT": "9"},
		"MASTER_PORT": {"NNODES": "2", "MASTER_ADDR": "a"},
		"RANK":        {"NNODES": "2", "MASTER_ADDR": "a", "MASTER_PORT": "9"},
	} {
		_, err := StartFrontEnd(env, true)
		require.ErrorContains(t, err, name)
	}
}
