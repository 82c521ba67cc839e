// SPDX-License-Identifier: Apache-2.0

package conformance_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	"github.com/paddle-volcano/paddle-volcano/controller/validation"
	"github.com/paddle-volcano/paddle-volcano/test/conformance"
	"github.com/paddle-volcano/paddle-volcano/test/conformance/rules"
	"github.com/paddle-volcano/paddle-volcano/test/vcjob"
)

// shape is one PaddleJob of the matrix; ps 0 means no servers.
type shape struct {
	ps, workers int
	gloo        *int32
	intranet    v1.Intranet
	fallback    v1.Intranet
	heter       int
	elastic     bool
}

// name is unique, and short enough for the names of pods.
func (s shape) name() string {
	gloo := "x"
	if s.gloo != nil {
		gloo = strconv.Itoa(int(*s.gloo))
	}
	kind := ""
	if s.heter > 0 {
		kind = fmt.Sprintf("-h%d", s.heter)
	}
	if s.elastic {
		kind = "-e"
	}
	return strings.ToLower(fmt.Sprintf("j-%d-%d-%s-%s-%s%s", s.ps, s.workers, gloo, s.intranet, s.fallback, kind))
}

func (s shape) mode() conformance.Mode {
	switch {
	case s.elastic:
		return conformance.Elastic
	case s.ps > 0:
		return conformance.PS
	case s.workers > 1:
		return conformance.Collective
	}
	return conformance.Single
}

// effective returns the intranet that the job gets.
func (s shape) effective() v1.Intranet {
	if s.intranet == "" {
		return s.fallback
	}
	return s.intranet
}

func (s shape) job() *v1.PaddleJob {
	role := func(replicas int) *v1.ResourceSpec {
		return &v1.ResourceSpec{Replicas: int32(replicas), Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			Containers: []corev1.Container{{Name: "paddle", Image: "paddle"}}}}}
	}
	job := &v1.PaddleJob{
		ObjectMeta: metav1.ObjectMeta{Name: s.name(), Namespace: "train"},
		Spec:       v1.PaddleJobSpec{Intranet: s.intranet, WithGloo: s.gloo, Worker: role(s.workers)},
	}
	if s.ps > 0 {
		job.Spec.PS = role(s.ps)
	}
	if s.heter > 0 {
		job.Spec.Heter = role(s.heter)
	}
	if s.elastic {
		job.Spec.Elastic = ptr.To[int32](1)
		job.Spec.ElasticPolicy = &v1.ElasticPolicy{Etcd: "kv.paddle-system.svc:2379", TimeoutSeconds: ptr.To(int32(90))}
		job.Spec.Worker.Requests, job.Spec.Worker.Limits = ptr.To[int32](1), ptr.To(int32(s.workers+2))
	}
	return job
}

// run is a PaddleJob whose pods Volcano has made.
type run struct {
	job      *v1.PaddleJob
	cfg      builder.Config
	pods     []*corev1.Pod
	services []*corev1.Service
	// first is where the job's ports begin, with intranet Host.
	first int
}

func start(t *testing.T, job *v1.PaddleJob, cfg builder.Config) *run {
	t.Helper()
	volcano, err := vcjob.Shared()
	require.NoError(t, err)
	require.Empty(t, validation.Validate(job, builder.PodGroupOverrides{}, cfg))
	rendered, _ := builder.Job(job, builder.PodGroupOverrides{}, cfg)
	submitted, err := volcano.Create(t.Context(), rendered)
	require.NoError(t, err)
	pods, services, err := volcano.Pods(t.Context(), submitted)
	require.NoError(t, err)
	for i, pod := range pods {
		// None is how another begins, which the launcher cannot tell apart.
		pod.Status.PodIP = fmt.Sprintf("10.0.%d.%d", i/100, 100+i%100)
	}
	return &run{job: job, cfg: cfg, pods: pods, services: services}
}

// configMaps returns those of the job as the controller makes them for its pods.
func (r *run) configMaps(t *testing.T) func(string) (map[string]string, bool) {
	t.Helper()
	addresses, gang := builder.ServiceAddresses(r.job), ""
	if builder.Intranet(r.job, r.cfg) != v1.Service && !builder.Elastic(r.job) {
		var missing []string
		addresses, gang, missing = builder.PodAddresses(r.job, r.pods)
		require.Empty(t, missing)
	}
	made := builder.ConfigMapAt(r.job, addresses, r.first, gang, r.cfg)
	return func(name string) (map[string]string, bool) {
		if name == made.Name {
			return made.Data, true
		}
		// What Volcano's own plugins make is there before the pods, and Paddle reads none of it.
		return map[string]string{"VC_PS_HOSTS": "", "VC_PS_NUM": "", "VC_WORKER_HOSTS": "", "VC_WORKER_NUM": "", "VC_HETER_HOSTS": "", "VC_HETER_NUM": ""}, strings.HasSuffix(name, "-svc")
	}
}

func matrix() (shapes []shape) {
	roles := [][2]int{{0, 1}, {0, 2}, {0, 3}, {0, 12}, {1, 1}, {1, 3}, {2, 1}, {3, 2}, {12, 11}}
	for _, role := range roles {
		for _, gloo := range []*int32{nil, ptr.To[int32](0), ptr.To[int32](1), ptr.To[int32](2)} {
			for _, intranet := range []v1.Intranet{v1.PodIP, v1.Service} {
				shapes = append(shapes, shape{ps: role[0], workers: role[1], gloo: gloo, intranet: intranet, fallback: v1.PodIP})
			}
		}
		for _, fallback := range []v1.Intranet{v1.PodIP, v1.Service} {
			shapes = append(shapes, shape{ps: role[0], workers: role[1], gloo: ptr.To[int32](1), fallback: fallback})
		}
	}
	for _, intranet := range []v1.Intranet{v1.PodIP, v1.Service} {
		for _, role := range [][3]int{{1, 1, 1}, {2, 3, 2}, {2, 11, 12}} {
			shapes = append(shapes, shape{ps: role[0], workers: role[1], heter: role[2], gloo: ptr.To[int32](1), intranet: intranet})
		}
		for _, workers := range []int{1, 2, 12} {
			shapes = append(shapes, shape{workers: workers, elastic: true, intranet: intranet})
		}
	}
	return shapes
}

func TestEveryJobTrains(t *testing.T) {
	for _, shape := range matrix() {
		t.Run(shape.name(), func(t *testing.T) {
			run := start(t, shape.job(), builder.Config{DefaultIntranet: shape.fallback})
			gang, err := conformance.NewGang(shape.mode(), run.pods, run.services, run.configMaps(t))
			require.NoError(t, err)
			require.Len(t, gang.Pods, shape.ps+shape.workers+shape.heter)
			require.NoError(t, gang.Check())
			for _, pod := range gang.Pods {
				requireAddress(t, shape, &pod, run.job.Name)
				requireGloo(t, shape, &pod)
			}
		})
	}
}

// requireAddress checks that pods are known by what the user asked for.
func requireAddress(t *testing.T, shape shape, pod *conformance.Pod, job string) {
	t.Helper()
	if shape.effective() == v1.Service {
		require.Equal(t, pod.Name+"."+job, pod.Env["POD_IP"])
	} else {
		require.Equal(t, pod.IP, pod.Env["POD_IP"])
	}
}

// requireGloo checks that gloo is as the user asked for; without servers no process could serve it.
func requireGloo(t *testing.T, shape shape, pod *conformance.Pod) {
	t.Helper()
	want := 0
	if shape.ps > 0 && shape.gloo != nil {
		want = int(*shape.gloo)
	}
	var gloo rules.Gloo
	var err error
	if shape.elastic {
		require.NotContains(t, pod.Env, "PADDLE_WITH_GLOO")
		return
	}
	if shape.ps > 0 {
		role, roleErr := rules.PSRoleMaker(pod.Env)
		require.NoError(t, roleErr)
		gloo, err = rules.PSGloo(pod.Env, role)
		launcher, launchErr := rules.Launch(pod.Env, pod.IP, rules.Newest)
		require.NoError(t, launchErr)
		require.Equal(t, shape.gloo != nil && *shape.gloo == 0, launcher.Gloo == "", "%s, by the launcher", pod.Name)
	} else {
		gloo, err = rules.CollectiveGloo(pod.Env, rules.CollectiveRole{Rank: pod.Index})
	}
	require.NoError(t, err)
	require.Equal(t, want, gloo.Level)
	require.Equal(t, want > 0, gloo.HTTP)
	require.Equal(t, want > 0 && pod.Role == rules.Server && pod.Index == 0, gloo.Serves)
}

// Where one pod's address is a prefix of another's, its launcher would start the other's processes too, and each pod would
// succeed. It fails instead, in every pod, and python train.py trains.
func TestTheLauncherStartsNoOtherPodsProcesses(t *testing.T) {
	for _, intranet := range []v1.Intranet{v1.PodIP, v1.Service, v1.Host} {
		t.Run(string(intranet), func(t *testing.T) {
			run := start(t, shape{ps: 1, workers: 2, intranet: intranet, fallback: "alike"}.job(), builder.Config{DefaultIntranet: v1.PodIP})
			for i, pod := range run.pods {
				pod.Status.PodIP = []string{"10.128.0.5", "10.128.0.50", "10.128.0.7"}[i]
			}
			if intranet == v1.Host {
				run.first = 20000
				run.announce()
			}
			gang, err := conformance.NewGang(conformance.PS, run.pods, run.services, run.configMaps(t))
			require.NoError(t, err)
			for _, pod := range gang.Pods {
				launcher, err := rules.Launch(pod.Env, pod.IP, rules.Newest)
				if intranet == v1.Service {
					require.NoError(t, err)
					require.Len(t, slices.Concat(launcher.Servers, launcher.Trainers), 1, pod.Name)
				} else {
					require.ErrorContains(t, err, "IndexError", pod.Name)
				}
			}
			require.NoError(t, gang.Direct().Check())
		})
	}
}

func TestNoContainerStartsBeforeAddressesAreKnown(t *testing.T) {
	for _, intranet := range []v1.Intranet{v1.PodIP, v1.Service} {
		run := start(t, shape{ps: 1, workers: 2, gloo: ptr.To[int32](1), intranet: intranet, fallback: "early"}.job(), builder.Config{DefaultIntranet: v1.PodIP})
		for _, pod := range run.pods {
			_, err := conformance.Environment(pod, func(name string) (map[string]string, bool) { return nil, strings.HasSuffix(name, "-svc") })
			require.ErrorContains(t, err, "waits for ConfigMap "+run.job.Name, pod.Name)
		}
	}
}

func TestARestartedGangReadsItsOwnAddresses(t *testing.T) {
	run := start(t, shape{ps: 2, workers: 2, gloo: ptr.To[int32](1), intranet: v1.PodIP, fallback: "again"}.job(), builder.Config{DefaultIntranet: v1.PodIP})
	before := run.configMaps(t)
	for i, pod := range run.pods {
		pod.UID, pod.Status.PodIP = "second", fmt.Sprintf("10.9.0.%d", len(run.pods)-i)
	}
	gang, err := conformance.NewGang(conformance.PS, run.pods, run.services, run.configMaps(t))
	require.NoError(t, err)
	require.NoError(t, gang.Check())

	gang, err = conformance.NewGang(conformance.PS, run.pods, run.services, before)
	require.NoError(t, err)
	require.ErrorContains(t, gang.Check(), "does not find its own endpoint", "the addresses of the dead must not be read")
}

// The process gets the user's value of a variable, however the user sets it, even if the job fails because of it.
func TestTheUsersVariablesWin(t *testing.T) {
	for _, intranet := range []v1.Intranet{v1.PodIP, v1.Service} {
		job := shape{ps: 2, workers: 2, gloo: ptr.To[int32](1), intranet: intranet, fallback: "own"}.job()
		own := []corev1.EnvVar{
			{Name: "PADDLE_PORT", Value: "40000"}, {Name: "TRAINING_ROLE", Value: "MINE"}, {Name: "POD_IP", Value: "me"}, {Name: "PADDLE_TRAINER_ID", Value: "7"},
			{Name: "PADDLE_WITH_GLOO", Value: "0"}, {Name: "PADDLE_TRAINERS_NUM", Value: "9"}, {Name: "FLAGS_rpc_deadline", Value: "$(PADDLE_PORT)"}, {Name: "POD_NAME", Value: "it"},
		}
		for _, role := range []*v1.ResourceSpec{job.Spec.PS, job.Spec.Worker} {
			role.Template.Spec.Containers[0].Env = own
			role.Template.Spec.Containers[0].EnvFrom = []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{
				LocalObjectReference: corev1.LocalObjectReference{Name: "mine"}}}}
		}
		run := start(t, job, builder.Config{DefaultIntranet: v1.PodIP})
		configMaps := run.configMaps(t)
		lookup := func(name string) (map[string]string, bool) {
			if name == "mine" {
				return map[string]string{"TRAINER_PORTS_NUM": "5", "PADDLE_GLOO_RENDEZVOUS": "2"}, true
			}
			return configMaps(name)
		}
		for _, pod := range run.pods {
			env, err := conformance.Environment(pod, lookup)
			require.NoError(t, err)
			for _, variable := range own {
				want := variable.Value
				if variable.Name == "FLAGS_rpc_deadline" {
					want = "40000"
				}
				require.Equal(t, want, env[variable.Name], "%s of %s", variable.Name, pod.Name)
			}
			require.Equal(t, "5", env["TRAINER_PORTS_NUM"], "from the user's ConfigMap")
			require.Equal(t, "2", env["PADDLE_GLOO_RENDEZVOUS"], "from the user's ConfigMap")
			seen := map[string]bool{}
			for _, variable := range pod.Spec.Containers[0].Env {
				require.False(t, seen[variable.Name], "%s stands in the container twice", variable.Name)
				seen[variable.Name] = true
			}
		}
	}
}
