// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/keys"
	"github.com/paddle-volcano/paddle-volcano/controller/render"
	"github.com/paddle-volcano/paddle-volcano/controller/view"
)

// createdFrom is a job of another spec than submitted's, with its Volcano Job.
func createdFrom(t *testing.T, cfg render.Config, edit func(*v1.PaddleJobSpec), changes ...change) *view.View {
	t.Helper()
	v := submitted()
	edit(&v.Job.Spec)
	plan := Decide(v, cfg)
	require.Nil(t, plan.Stalled, "%v", plan.Stalled)
	v.VolcanoJob = volcanoJobOf(t, plan).DeepCopy()
	v.VolcanoJob.UID = "vc-uid"
	v.VolcanoJob.Status.State.Phase = vcbatch.Running
	v.PodGroup = render.PodGroup(v.VolcanoJob, func(string) int32 { return 0 })
	for _, c := range changes {
		c(v)
	}
	return v
}

func elastic(s *v1.PaddleJobSpec) {
	s.PS, s.Elastic, s.ElasticPolicy = nil, ptr.To(1), &v1.ElasticPolicy{Etcd: "kv:2379"}
	s.Worker.Requests, s.Worker.Limits = ptr.To(1), ptr.To(4)
}

func asSubmitted(*v1.PaddleJobSpec) {}

// environmentIn is the ConfigMap that a plan writes, nil if it writes none.
func environmentIn(plan Plan) *corev1.ConfigMap {
	for _, action := range plan.Actions {
		if write, ok := action.(WriteEnvironment); ok {
			return write.ConfigMap
		}
	}
	return nil
}

func addressed(ips ...string) change {
	return func(v *view.View) {
		for i, pod := range v.Pods {
			pod.Status.PodIP = ips[i]
		}
	}
}

func TestAddressesThatPaddleCannotReadStallTheJob(t *testing.T) {
	v := created(t, vcbatch.Running,
		with(render.RolePS, view.Starting), with(render.RoleWorker, view.Starting, view.Starting), addressed("fd00::1", "fd00::2", "fd00::3"))
	plan := Decide(v, config)
	require.NotNil(t, plan.Stalled)
	require.Equal(t, ReasonIPv6, plan.Stalled.Reason)
	require.Contains(t, plan.Stalled.Message, "--announce-pod-ips")
	require.Nil(t, environmentIn(plan))
}

// Names lead to addresses too, and elastic workers tell each other theirs.
func TestNamesOfAddressesThatPaddleCannotReachStallTheJob(t *testing.T) {
	for name, edit := range map[string]func(*v1.PaddleJobSpec){
		"Service": func(s *v1.PaddleJobSpec) { s.Intranet = v1.Service },
		"elastic": elastic,
	} {
		v := createdFrom(t, config, edit, with(render.RoleWorker, view.Starting, view.Starting), addressed("fd00::1", "fd00::2"))
		plan := Decide(v, config)
		require.Equal(t, ReasonIPv6, plan.Stalled.Reason, name)
		require.Contains(t, plan.Stalled.Message, "fd00::1", name)
		require.NotNil(t, environmentIn(plan), "what is known is written all the same")
		addressed("10.0.0.1", "10.0.0.2")(v)
		require.Nil(t, Decide(v, config).Stalled, name)
	}
	single := createdFrom(t, config, func(s *v1.PaddleJobSpec) { s.PS, s.Worker.Replicas, s.Intranet = nil, 1, v1.Service },
		with(render.RoleWorker, view.Starting), addressed("fd00::1"))
	require.Nil(t, Decide(single, config).Stalled)
}

func TestASingleWorkerMayHaveAnyAddress(t *testing.T) {
	v := createdFrom(t, config, func(s *v1.PaddleJobSpec) { s.PS, s.Worker.Replicas = nil, 1 },
		with(render.RoleWorker, view.Starting), addressed("fd00::1"))
	plan := Decide(v, config)
	require.Nil(t, plan.Stalled)
	require.Equal(t, "[fd00::1]:36000", environmentIn(plan).Data["PADDLE_TRAINER_ENDPOINTS"])
}

// In a dual-stack cluster whose first family is IPv6 the pods are told their other address first.
func TestTheSecondAddressIsTold(t *testing.T) {
	announcing := render.Config{AnnouncePodIPs: true}
	v := createdFrom(t, announcing, asSubmitted, with(render.RolePS, view.Starting), with(render.RoleWorker, view.Starting, view.Starting),
		addressed("fd00::1", "fd00::2", "fd00::3"))
	for i, pod := range v.Pods {
		pod.Status.PodIPs = []corev1.PodIP{{IP: pod.Status.PodIP}, {IP: []string{"10.0.0.1", "10.0.0.2", "10.0.0.3"}[i]}}
	}
	plan := Decide(v, announcing)
	require.Nil(t, plan.Stalled)
	require.Nil(t, environmentIn(plan))
	action, ok := plan.Actions[0].(AnnouncePods)
	require.True(t, ok)
	require.Zero(t, action.Ports)
	require.Len(t, action.Pods, 3)
	for i, one := range action.Pods {
		require.Equal(t, map[string]string{
			keys.Address: []string{"10.0.0.1", "10.0.0.2", "10.0.0.3"}[i], keys.AnnouncedAt: "0001-01-01T00:00:00Z",
		}, one.Annotations)
		one.Pod.Annotations[keys.Address] = one.Annotations[keys.Address]
	}
	// The flag may be another by now: what counts is how the templates were made.
	require.Equal(t, "10.0.0.2:36000,10.0.0.3:36000", environmentIn(Decide(v, config)).Data["PADDLE_TRAINER_ENDPOINTS"])
}

// The launcher of a pod would start the processes of each pod whose address begins with its own; without ports it fails.
func TestAddressPrefix(t *testing.T) {
	servers := func(addresses ...string) *view.View {
		return created(t, vcbatch.Running, with(render.RolePS, view.Starting), with(render.RoleWorker, view.Starting, view.Starting), addressed(addresses...))
	}
	plan := Decide(servers("10.0.0.1", "10.0.0.2", "10.0.0.12"), config)
	require.Equal(t, ReasonAddressPrefix, plan.LauncherUnusable.Reason)
	require.Contains(t, plan.LauncherUnusable.Message, "10.0.0.1 is a prefix of 10.0.0.12")
	data := environmentIn(plan).Data
	require.Equal(t, "10.0.0.1", data["PADDLE_SERVERS_ENDPOINTS"])
	require.Equal(t, "10.0.0.2,10.0.0.12", data["PADDLE_TRAINERS_ENDPOINTS"])
	require.Equal(t, "10.0.0.2:36000,10.0.0.12:36000", data["PADDLE_TRAINER_ENDPOINTS"], "python train.py compares whole addresses")

	plan = Decide(servers("10.0.0.1", "10.0.0.2", "10.0.0.3"), config)
	require.Nil(t, plan.LauncherUnusable)
	require.Equal(t, "10.0.0.1:36000", environmentIn(plan).Data["PADDLE_SERVERS_ENDPOINTS"])

	plan = Decide(createdFrom(t, config, func(s *v1.PaddleJobSpec) { s.PS, s.Worker.Replicas = nil, 3 },
		with(render.RoleWorker, view.Starting, view.Starting, view.Starting), addressed("10.0.0.1", "10.0.0.2", "10.0.0.12")), config)
	require.Nil(t, plan.LauncherUnusable, "without servers the launcher compares whole addresses")
}

func TestHeterAddressesAreWaitedFor(t *testing.T) {
	withHeter := func(s *v1.PaddleJobSpec) { s.Heter = s.Worker.DeepCopy() }
	v := createdFrom(t, config, withHeter, with(render.RolePS, view.Starting), with(render.RoleWorker, view.Starting, view.Starting), with(render.RoleHeter, view.Starting))
	plan := Decide(v, config)
	require.Equal(t, []string{"job-heter-1"}, plan.Missing)
	v = createdFrom(t, config, withHeter, with(render.RolePS, view.Starting), with(render.RoleWorker, view.Starting, view.Starting),
		with(render.RoleHeter, view.Starting, view.Starting))
	require.Equal(t, "10.0.0.0:36000,10.0.0.1:36000", environmentIn(Decide(v, config)).Data["PADDLE_ALL_HETER_TRAINER_IP_PORT_LIST"])
}

// Elastic workers find each other: nobody waits for anybody's address, and nothing changes when one comes or goes.
func TestElasticEnvironmentIsThereFirst(t *testing.T) {
	v := submitted()
	elastic(&v.Job.Spec)
	plan := Decide(v, config)
	made := environmentIn(plan)
	require.NotNil(t, made)
	require.Equal(t, "1:4", made.Data["PADDLE_NNODES"])
	require.Equal(t, "true", volcanoJobOf(t, plan).Annotations[keys.Elastic])

	v = createdFrom(t, config, elastic, with(render.RoleWorker, view.Running))
	v.Environment = made
	require.Empty(t, done(Decide(v, config)), "one of two is there")
	v.VolcanoJob.Status.State.Phase = vcbatch.Restarting
	require.Empty(t, done(Decide(v, config)))
	v.VolcanoJob.Status.State.Phase = vcbatch.Running
	v.Environment = nil
	require.Equal(t, []string{"create environment"}, done(Decide(v, config)))
}

func TestEnvironmentIsMended(t *testing.T) {
	for name, spoil := range map[string]func(*corev1.ConfigMap){
		"label": func(cm *corev1.ConfigMap) { delete(cm.Labels, keys.JobName) },
		"data":  func(cm *corev1.ConfigMap) { cm.Data["PADDLE_PORT"] = "1" },
	} {
		v := created(t, vcbatch.Running, with(render.RolePS, view.Starting), with(render.RoleWorker, view.Starting, view.Starting), environmentOf)
		require.Nil(t, environmentIn(Decide(v, config)))
		spoil(v.Environment)
		require.Equal(t, []string{"update environment"}, done(Decide(v, config)), name)
	}
	// What an elastic job reads does not tell its gangs apart.
	v := createdFrom(t, config, elastic)
	v.Environment = render.ConfigMap(v.Job, nil, "", config)
	require.Empty(t, done(Decide(v, config)))
	v.Environment.Annotations = map[string]string{keys.Gang: "x"}
	require.Equal(t, []string{"update environment"}, done(Decide(v, config)))
}

func TestAsCreatedHasTheRolesThatThereAre(t *testing.T) {
	v := createdFrom(t, config, func(s *v1.PaddleJobSpec) { s.PS = nil })
	made := asCreated(v)
	require.Nil(t, made.Spec.PS)
	require.Nil(t, made.Spec.Heter)
	require.Equal(t, 2, made.Spec.Worker.Replicas)
}
