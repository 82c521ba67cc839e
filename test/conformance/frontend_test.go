// SPDX-License-Identifier: Apache-2.0

package conformance_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	"github.com/paddle-volcano/paddle-volcano/test/conformance"
)

// A front end deletes the variables by which the launcher knows the other nodes, and reads others.
func TestFrontEndsFormOneJob(t *testing.T) {
	for _, network := range []v1.Intranet{v1.PodIP, v1.Service, v1.Host} {
		for _, workers := range []int{2, 3, 12} {
			shape := shape{workers: workers, intranet: network, fallback: "front"}
			t.Run(shape.name(), func(t *testing.T) {
				run := start(t, shape.job(), builder.Config{})
				if network == v1.Host {
					first, ok := builder.ChoosePorts(builder.HostPortsOf(run.cfg), builder.PortsNeeded(run.job), nil, "")
					require.True(t, ok)
					run.onNodes(first, false)
				}
				gang, err := conformance.NewGang(conformance.Collective, run.pods, run.services, run.configMaps(t))
				require.NoError(t, err)
				require.Len(t, gang.Pods, workers)
				require.NoError(t, gang.Check(), "the launcher alone")
				require.NoError(t, gang.CheckFrontEnds(true))
				require.NoError(t, gang.CheckFrontEnds(false))

				for name, want := range map[string]string{
					"NNODES": "trains alone", "MASTER_ADDR": "MASTER_ADDR is not set", "MASTER_PORT": "MASTER_PORT is not set", "RANK": "RANK",
				} {
					value := gang.Pods[1].Env[name]
					delete(gang.Pods[1].Env, name)
					require.ErrorContains(t, gang.CheckFrontEnds(true), want, "without %s", name)
					gang.Pods[1].Env[name] = value
				}
				for i := range gang.Pods {
					gang.Pods[i].Env["MASTER_PORT"] = gang.Pods[0].Env["PADDLE_PORT"]
				}
				require.ErrorContains(t, gang.CheckFrontEnds(true), "is on the port that")
			})
		}
	}
}

// A worker alone has nobody to meet.
func TestAFrontEndOfOneWorkerTrainsAlone(t *testing.T) {
	run := start(t, shape{workers: 1, intranet: v1.PodIP, fallback: "front"}.job(), builder.Config{})
	gang, err := conformance.NewGang(conformance.Single, run.pods, run.services, run.configMaps(t))
	require.NoError(t, err)
	require.ErrorContains(t, gang.CheckFrontEnds(true), "trains alone, and there are 1 pods")
}
