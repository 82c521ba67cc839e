// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/utils/ptr"

	batchv1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	kubeflowv1 "github.com/paddle-volcano/paddle-volcano/controller/api/kubeflow/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	"github.com/paddle-volcano/paddle-volcano/controller/legacy/kubeflow"
	"github.com/paddle-volcano/paddle-volcano/controller/validation"
	"github.com/paddle-volcano/paddle-volcano/test/conformance"
	"github.com/paddle-volcano/paddle-volcano/test/conformance/rules"
	"github.com/paddle-volcano/paddle-volcano/test/vcjob"
)

// By Paddle's own rules every pod finds its peers, and the rank that its name says, with Kubeflow's variables beside ours.
func TestRanksAreThoseOfThePods(t *testing.T) {
	t.Parallel()
	volcano, err := vcjob.Shared()
	require.NoError(t, err)
	one := func(j *kubeflowv1.PaddleJob) { *worker(j).Replicas = 1 }
	elastic := func(j *kubeflowv1.PaddleJob) {
		j.Spec.ElasticPolicy = &kubeflowv1.ElasticPolicy{MinReplicas: ptr.To[int32](1), MaxReplicas: ptr.To[int32](4)}
	}
	for name, tc := range map[string]struct {
		with []kubeflowChange
		mode conformance.Mode
	}{
		"collective": {mode: conformance.Collective},
		"single":     {with: []kubeflowChange{one}, mode: conformance.Single},
		"servers":    {with: []kubeflowChange{servers}, mode: conformance.PS},
		"elastic":    {with: []kubeflowChange{elastic}, mode: conformance.Elastic},
		"one worker": {with: []kubeflowChange{servers, one}, mode: conformance.PS},
	} {
		for _, intranet := range []batchv1.Intranet{batchv1.PodIP, batchv1.Service} {
			cfg := builder.Config{DefaultIntranet: intranet, ElasticEtcd: "kv.paddle-system.svc:2379"}
			name := strings.ToLower(strings.ReplaceAll(name, " ", "-") + "-" + string(intranet))
			made := kubeflow.Convert(job("train", name, tc.with...), true).Job
			require.Empty(t, validation.Validate(made, builder.PodGroupOverrides{}, cfg), name)
			rendered, told := builder.Job(made, builder.PodGroupOverrides{}, cfg)
			require.Empty(t, told, name)
			submitted, err := volcano.Create(t.Context(), rendered)
			require.NoError(t, err)
			pods, services, err := volcano.Pods(t.Context(), submitted)
			require.NoError(t, err)
			for i, pod := range pods {
				pod.Status.PodIP = fmt.Sprintf("10.0.0.%d", 100+i)
			}
			addresses, gang := builder.ServiceAddresses(made), ""
			if intranet == batchv1.PodIP && tc.mode != conformance.Elastic {
				addresses, gang, _ = builder.PodAddresses(made, pods)
			}
			environment := builder.ConfigMap(made, addresses, gang, cfg)
			seen, err := conformance.NewGang(tc.mode, pods, services, func(name string) (map[string]string, bool) {
				if name == environment.Name {
					return environment.Data, true
				}
				return map[string]string{"VC_PS_HOSTS": "", "VC_PS_NUM": "", "VC_WORKER_HOSTS": "", "VC_WORKER_NUM": ""}, strings.HasSuffix(name, "-svc")
			})
			require.NoError(t, err)
			require.NoError(t, seen.Check(), name)
			if tc.mode == conformance.Elastic {
				continue
			}
			for _, pod := range seen.Pods {
				launcher, err := rules.Launch(pod.Env, pod.IP, rules.Since2023)
				require.NoError(t, err)
				require.Equal(t, tc.mode == conformance.PS, launcher.PS, pod.Name)
				require.Equal(t, name, pod.Env["PADDLE_JOB_ID"])
			}
		}
	}
}
