// SPDX-License-Identifier: Apache-2.0

package builder

import (
	"bytes"
	"fmt"
	"net/netip"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/barrier"
)

// guarded switches the start barrier on.
func guarded() Config {
	return Config{BarrierImage: "barrier:v1", BarrierTimeout: 3 * time.Minute, ElasticEtcd: "10.1.2.3:2379"}
}

// guardedJob renders a job that must be valid, with the start barrier.
func guardedJob(t *testing.T, job *v1.PaddleJob) *vcbatch.Job {
	t.Helper()
	got, _ := Job(job, PodGroupOverrides{}, guarded())
	return got
}

// barrierIn is the init container of a role, nil if there is none.
func barrierIn(t *testing.T, job *vcbatch.Job, role string) *corev1.Container {
	t.Helper()
	spec := &taskOf(t, job, role).Template.Spec
	if len(spec.InitContainers) == 0 || spec.InitContainers[0].Image != "barrier:v1" {
		return nil
	}
	return &spec.InitContainers[0]
}

func TestPodsWithABarrier(t *testing.T) {
	for name, c := range map[string]struct {
		job  *v1.PaddleJob
		want bool
	}{
		"collective":            {paddleJob(0, 2), true},
		"servers":               {paddleJob(1, 1), true},
		"names":                 {paddleJob(0, 2, intranet(v1.Service)), true},
		"nodes":                 {paddleJob(0, 2, onHosts), true},
		"heterogeneous":         {paddleJob(1, 2, heter(1)), true},
		"a single pod":          {paddleJob(0, 1), false},
		"elastic, without list": {paddleJob(0, 2, elastic(1, 4)), false},
	} {
		t.Run(name, func(t *testing.T) {
			got := guardedJob(t, c.job)
			for i := range got.Spec.Tasks {
				require.Equal(t, c.want, barrierIn(t, got, got.Spec.Tasks[i].Name) != nil, got.Spec.Tasks[i].Name)
			}
			got, _ = Job(c.job, PodGroupOverrides{}, Config{ElasticEtcd: "10.1.2.3:2379"})
			for i := range got.Spec.Tasks {
				require.Empty(t, got.Spec.Tasks[i].Template.Spec.InitContainers, "switched off")
			}
		})
	}
}

func TestBarrierStandsFirst(t *testing.T) {
	job := paddleJob(0, 2, workerPod(func(s *corev1.PodSpec) {
		s.InitContainers = []corev1.Container{{Name: "user", Image: "i"}, {Name: barrierName + "-2", Image: "i"}}
		s.Containers = append(s.Containers, corev1.Container{Name: barrierName, Image: "i"})
	}))
	before := job.DeepCopy()
	spec := taskOf(t, guardedJob(t, job), RoleWorker).Template.Spec
	require.Equal(t, before, job, "the PaddleJob was changed")
	require.Len(t, spec.InitContainers, 3)
	require.Equal(t, barrierName+"-3", spec.InitContainers[0].Name, "two containers of one name would be refused")
	require.Equal(t, before.Spec.Worker.Template.Spec.InitContainers, spec.InitContainers[1:])

	own := spec.InitContainers[0]
	require.Empty(t, own.Command)
	require.Equal(t, "wide", own.EnvFrom[0].ConfigMapRef.Name)
	require.Nil(t, own.EnvFrom[0].ConfigMapRef.Optional, "it waits for the addresses as all containers do")
	require.Equal(t, corev1.TerminationMessageFallbackToLogsOnError, own.TerminationMessagePolicy)
	require.Equal(t, barrierName, barrierIn(t, guardedJob(t, paddleJob(2, 2)), RolePS).Name)
}

// What is waited for: all servers, and as many workers as the gang starts with.
func TestWhatBarrierWaitsFor(t *testing.T) {
	restartPod := func(job *v1.PaddleJob) { job.Spec.RunPolicy = &v1.RunPolicy{RestartScope: v1.RestartPod} }
	const servers, workers, heters = "PADDLE_PSERVERS_IP_PORT_LIST", "PADDLE_TRAINER_ENDPOINTS", "PADDLE_ALL_HETER_TRAINER_IP_PORT_LIST"
	for name, c := range map[string]struct {
		job       *v1.PaddleJob
		overrides PodGroupOverrides
		want      []barrier.List
	}{
		"collective":             {paddleJob(0, 3), PodGroupOverrides{}, []barrier.List{{Variable: workers, Least: 3}}},
		"servers":                {paddleJob(2, 3), PodGroupOverrides{}, []barrier.List{{Variable: servers, Least: 2}, {Variable: workers, Least: 3}}},
		"heterogeneous":          {paddleJob(2, 3, heter(4)), PodGroupOverrides{}, []barrier.List{{Variable: servers, Least: 2}, {Variable: workers, Least: 3}, {Variable: heters, Least: 4}}},
		"fewer are enough":       {paddleJob(2, 3, minAvailable(3)), PodGroupOverrides{}, []barrier.List{{Variable: servers, Least: 2}, {Variable: workers, Least: 1}}},
		"fewer, by the PodGroup": {paddleJob(2, 3), PodGroupOverrides{MinMember: 4}, []barrier.List{{Variable: servers, Least: 2}, {Variable: workers, Least: 2}}},
		"workers start again":    {paddleJob(2, 3, restartPod), PodGroupOverrides{}, []barrier.List{{Variable: servers, Least: 2}, {Variable: workers, Least: 0}}},
	} {
		t.Run(name, func(t *testing.T) {
			got, _ := Job(c.job, c.overrides, guarded())
			for i, list := range c.want {
				var out bytes.Buffer
				options, err := barrier.Parse(barrierIn(t, got, got.Spec.Tasks[i].Name).Args, &out)
				require.NoError(t, err)
				require.Equal(t, &barrier.Options{Own: list.Variable, Peers: c.want, Timeout: 3 * time.Minute}, options)
			}
		})
	}
}

// Every pod, of every mode and network, finds in the ConfigMap the address by which the others know it.
func TestBarrierReadsTheConfigMap(t *testing.T) {
	for name, job := range map[string]*v1.PaddleJob{
		"collective": paddleJob(0, 3), "servers": paddleJob(2, 3), "heterogeneous": paddleJob(1, 2, heter(2)),
		"names": paddleJob(2, 3, intranet(v1.Service)), "nodes": paddleJob(2, 3, onHosts),
	} {
		t.Run(name, func(t *testing.T) {
			got := guardedJob(t, job)
			addresses := ServiceAddresses(job)
			if Intranet(job, guarded()) != v1.Service {
				for role := range addresses {
					for i := range addresses[role] {
						addresses[role][i] = fmt.Sprintf("10.0.%d.%d", len(role), i)
					}
				}
			}
			data := ConfigMapAt(job, addresses, 20000, "g", guarded()).Data
			for role, hosts := range addresses {
				own := barrierIn(t, got, role)
				for i, host := range hosts {
					ip := fmt.Sprintf("10.0.%d.%d", len(role), i)
					env := map[string]string{}
					for _, variable := range own.Env {
						env[variable.Name] = map[string]string{
							"metadata.labels['" + v1.TaskIndexLabel + "']": strconv.Itoa(i), "status.podIPs": ip,
						}[variable.ValueFrom.FieldRef.FieldPath]
					}
					env = merged(data, env)
					options, err := barrier.Parse(own.Args, &bytes.Buffer{})
					require.NoError(t, err)
					task, err := options.Task(func(name string) (string, bool) { value, ok := env[name]; return value, ok })
					require.NoError(t, err)
					require.Equal(t, host, task.Own)
					require.Equal(t, []netip.Addr{netip.MustParseAddr(ip)}, task.IPs)
				}
			}
		})
	}
}

func TestBarrierResources(t *testing.T) {
	resources := func(changes ...change) corev1.ResourceRequirements {
		return barrierIn(t, guardedJob(t, paddleJob(0, 2, changes...)), RoleWorker).Resources
	}
	limits := func(pairs ...string) change {
		return workerContainer(func(c *corev1.Container) { c.Resources.Limits = list(pairs...) })
	}
	side := workerPod(func(s *corev1.PodSpec) {
		s.Containers = append(s.Containers, corev1.Container{Name: "side", Image: "i"})
	})
	whole := func(requests, limits corev1.ResourceList) change {
		return workerPod(func(s *corev1.PodSpec) {
			s.Resources = &corev1.ResourceRequirements{Requests: requests, Limits: limits}
		})
	}
	small := map[string]string{"cpu": "10m", "memory": "16Mi"}
	for name, c := range map[string]struct {
		changes          []change
		requests, limits map[string]string
	}{
		"no limits":                  {nil, small, map[string]string{}},
		"limits":                     {[]change{limits("cpu", "4", "memory", "8Gi")}, map[string]string{"cpu": "100m", "memory": "32Mi"}, map[string]string{"cpu": "100m", "memory": "32Mi"}},
		"a limit":                    {[]change{limits("memory", "8Gi")}, map[string]string{"cpu": "10m", "memory": "32Mi"}, map[string]string{"memory": "32Mi"}},
		"not all have limits":        {[]change{limits("cpu", "4", "memory", "8Gi"), side}, small, map[string]string{}},
		"the pod requests":           {[]change{whole(list("cpu", "4"), nil)}, map[string]string{"memory": "16Mi"}, map[string]string{}},
		"the pod is limited in both": {[]change{whole(nil, list("cpu", "4", "memory", "8Gi"))}, map[string]string{}, map[string]string{}},
	} {
		t.Run(name, func(t *testing.T) {
			got := resources(c.changes...)
			require.Equal(t, c.requests, text(got.Requests))
			require.Equal(t, c.limits, text(got.Limits))
		})
	}
}

// The gang's sum has the barrier's requests where they are the largest request of a pod, and only there.
func TestBarrierInMinResources(t *testing.T) {
	sum := func(changes ...change) map[string]string {
		return text(*PodGroup(guardedJob(t, paddleJob(2, 3, changes...))).Spec.MinResources)
	}
	pods := map[string]string{"pods": "5", "count/pods": "5"}
	require.Equal(t, merged(pods, map[string]string{"cpu": "50m", "requests.cpu": "50m", "memory": "80Mi", "requests.memory": "80Mi"}), sum())
	require.Equal(t, merged(pods, map[string]string{
		"cpu": "12020m", "requests.cpu": "12020m", "memory": "3104Mi", "requests.memory": "3104Mi", "limits.cpu": "12", "limits.memory": "3Gi",
	}), sum(workerContainer(func(c *corev1.Container) { c.Resources.Limits = list("cpu", "4", "memory", "1Gi") })))
}

func TestBarrierSecurity(t *testing.T) {
	with := func(security *corev1.PodSecurityContext) *corev1.SecurityContext {
		return barrierIn(t, guardedJob(t, paddleJob(0, 2, workerPod(func(s *corev1.PodSpec) { s.SecurityContext = security }))), RoleWorker).SecurityContext
	}
	for _, security := range []*corev1.PodSecurityContext{nil, {}, {FSGroup: ptr.To[int64](5)}} {
		got := with(security)
		require.True(t, *got.RunAsNonRoot)
		require.Nil(t, got.RunAsUser)
		require.False(t, *got.AllowPrivilegeEscalation)
		require.True(t, *got.ReadOnlyRootFilesystem)
		require.Equal(t, []corev1.Capability{"ALL"}, got.Capabilities.Drop)
		require.Equal(t, corev1.SeccompProfileTypeRuntimeDefault, got.SeccompProfile.Type)
	}
	require.Nil(t, with(&corev1.PodSecurityContext{RunAsUser: ptr.To[int64](0)}).RunAsNonRoot, "the kubelet would not start it")
}

func TestPullSecretsOfTheBarrier(t *testing.T) {
	cfg := guarded()
	cfg.BarrierPullSecrets = []string{"own", "registry"}
	secrets := func(job *v1.PaddleJob) []corev1.LocalObjectReference {
		job.Spec.Worker.Template.Spec.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "own"}}
		got, _ := Job(job, PodGroupOverrides{}, cfg)
		return taskOf(t, got, RoleWorker).Template.Spec.ImagePullSecrets
	}
	require.Equal(t, []corev1.LocalObjectReference{{Name: "own"}, {Name: "registry"}}, secrets(paddleJob(0, 2)))
	require.Equal(t, []corev1.LocalObjectReference{{Name: "own"}}, secrets(paddleJob(0, 1)), "it has no barrier")
}
