// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
)

// createdFrom is a job of another spec than submitted's, with its Volcano Job.
func createdFrom(t *testing.T, cfg builder.Config, edit func(*v1.PaddleJobSpec), changes ...change) *observed.State {
	t.Helper()
	obs := submitted()
	edit(&obs.Job.Spec)
	plan := Decide(obs, cfg)
	require.Nil(t, plan.Stalled, "%v", plan.Stalled)
	obs.VolcanoJob = volcanoJobOf(t, plan).DeepCopy()
	obs.VolcanoJob.UID = "vc-uid"
	obs.VolcanoJob.Status.State.Phase = vcbatch.Running
	obs.PodGroup = builder.PodGroup(obs.VolcanoJob)
	for _, c := range changes {
		c(obs)
	}
	return obs
}

func elastic(s *v1.PaddleJobSpec) {
	s.PS, s.Elastic, s.ElasticPolicy = nil, ptr.To[int32](1), &v1.ElasticPolicy{Etcd: "kv:2379"}
	s.Worker.Requests, s.Worker.Limits = ptr.To[int32](1), ptr.To[int32](4)
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
	return func(obs *observed.State) {
		for i, pod := range obs.Pods {
			pod.Status.PodIP = ips[i]
		}
	}
}

func TestAddressesThatPaddleCannotReadStallTheJob(t *testing.T) {
	obs := created(t, vcbatch.Running,
		with(builder.RolePS, observed.Starting), with(builder.RoleWorker, observed.Starting, observed.Starting), addressed("fd00::1", "fd00::2", "fd00::3"))
	plan := Decide(obs, config)
	require.NotNil(t, plan.Stalled)
	require.Equal(t, ReasonIPv6, plan.Stalled.Reason)
	require.Contains(t, plan.Stalled.Message, "--announce-pod-ips")
	require.Nil(t, environmentIn(plan))
}

// Names lead to addresses too, and elastic workers exchange them.
func TestNamesOfAddressesThatPaddleCannotReachStallTheJob(t *testing.T) {
	for name, edit := range map[string]func(*v1.PaddleJobSpec){
		"Service": func(s *v1.PaddleJobSpec) { s.Intranet = v1.Service },
		"elastic": elastic,
	} {
		obs := createdFrom(t, config, edit, with(builder.RoleWorker, observed.Starting, observed.Starting), addressed("fd00::1", "fd00::2"))
		plan := Decide(obs, config)
		require.Equal(t, ReasonIPv6, plan.Stalled.Reason, name)
		require.Contains(t, plan.Stalled.Message, "fd00::1", name)
		require.NotNil(t, environmentIn(plan), "what is known is written all the same")
		addressed("10.0.0.1", "10.0.0.2")(obs)
		require.Nil(t, Decide(obs, config).Stalled, name)
	}
	single := createdFrom(t, config, func(s *v1.PaddleJobSpec) { s.PS, s.Worker.Replicas, s.Intranet = nil, 1, v1.Service },
		with(builder.RoleWorker, observed.Starting), addressed("fd00::1"))
	require.Nil(t, Decide(single, config).Stalled)
}

func TestASingleWorkerMayHaveAnyAddress(t *testing.T) {
	obs := createdFrom(t, config, func(s *v1.PaddleJobSpec) { s.PS, s.Worker.Replicas = nil, 1 },
		with(builder.RoleWorker, observed.Starting), addressed("fd00::1"))
	plan := Decide(obs, config)
	require.Nil(t, plan.Stalled)
	require.Equal(t, "[fd00::1]:36000", environmentIn(plan).Data["PADDLE_TRAINER_ENDPOINTS"])
}

// In a dual-stack cluster whose first family is IPv6 the pods get their other address first.
func TestTheSecondAddressIsAnnounced(t *testing.T) {
	announcing := builder.Config{AnnouncePodIPs: true}
	obs := createdFrom(t, announcing, asSubmitted, with(builder.RolePS, observed.Starting), with(builder.RoleWorker, observed.Starting, observed.Starting),
		addressed("fd00::1", "fd00::2", "fd00::3"))
	for i, pod := range obs.Pods {
		pod.Status.PodIPs = []corev1.PodIP{{IP: pod.Status.PodIP}, {IP: []string{"10.0.0.1", "10.0.0.2", "10.0.0.3"}[i]}}
	}
	plan := Decide(obs, announcing)
	require.Nil(t, plan.Stalled)
	require.Nil(t, environmentIn(plan))
	action, ok := plan.Actions[0].(AnnouncePods)
	require.True(t, ok)
	require.Zero(t, action.Ports)
	require.Len(t, action.Pods, 3)
	for i, one := range action.Pods {
		require.Equal(t, map[string]string{
			v1.AddressAnnotation: []string{"10.0.0.1", "10.0.0.2", "10.0.0.3"}[i], v1.AnnouncedAtAnnotation: "0001-01-01T00:00:00Z",
		}, one.Annotations)
		one.Pod.Annotations[v1.AddressAnnotation] = one.Annotations[v1.AddressAnnotation]
	}
	// The flag may be another by now: what counts is how the templates were made.
	require.Equal(t, "10.0.0.2:36000,10.0.0.3:36000", environmentIn(Decide(obs, config)).Data["PADDLE_TRAINER_ENDPOINTS"])
}

// The launcher of a pod would start the processes of each pod whose address begins with its own; without ports it fails.
func TestAddressPrefix(t *testing.T) {
	servers := func(addresses ...string) *observed.State {
		return created(t, vcbatch.Running, with(builder.RolePS, observed.Starting), with(builder.RoleWorker, observed.Starting, observed.Starting), addressed(addresses...))
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
		with(builder.RoleWorker, observed.Starting, observed.Starting, observed.Starting), addressed("10.0.0.1", "10.0.0.2", "10.0.0.12")), config)
	require.Nil(t, plan.LauncherUnusable, "without servers the launcher compares whole addresses")
}

func TestHeterAddressesAreWaitedFor(t *testing.T) {
	withHeter := func(s *v1.PaddleJobSpec) { s.Heter = s.Worker.DeepCopy() }
	obs := createdFrom(t, config, withHeter, with(builder.RolePS, observed.Starting), with(builder.RoleWorker, observed.Starting, observed.Starting), with(builder.RoleHeter, observed.Starting))
	plan := Decide(obs, config)
	require.Equal(t, []string{"job-heter-1"}, plan.Missing)
	require.Zero(t, plan.RequeueAfter, "the gang is not placed")
	for _, placedFor := range []time.Duration{time.Minute, addressGracePeriod} {
		at := metav1.NewTime(obs.Now.Add(-placedFor))
		obs.Job.Status.Conditions = []metav1.Condition{
			{Type: v1.ConditionScheduled, Status: metav1.ConditionTrue, LastTransitionTime: at},
			{Type: v1.ConditionRunning, Status: metav1.ConditionFalse, LastTransitionTime: at},
		}
		require.Equal(t, addressGracePeriod-placedFor, Decide(obs, config).RequeueAfter)
	}
	obs = createdFrom(t, config, withHeter, with(builder.RolePS, observed.Starting), with(builder.RoleWorker, observed.Starting, observed.Starting),
		with(builder.RoleHeter, observed.Starting, observed.Starting))
	require.Equal(t, "10.0.0.0:36000,10.0.0.1:36000", environmentIn(Decide(obs, config)).Data["PADDLE_ALL_HETER_TRAINER_IP_PORT_LIST"])
}

// Elastic workers find each other: no pod waits for another's address, and nothing changes when one comes or goes.
func TestElasticEnvironmentIsThereFirst(t *testing.T) {
	obs := submitted()
	elastic(&obs.Job.Spec)
	plan := Decide(obs, config)
	made := environmentIn(plan)
	require.NotNil(t, made)
	require.Equal(t, "1:4", made.Data["PADDLE_NNODES"])
	require.Equal(t, "true", volcanoJobOf(t, plan).Annotations[v1.ElasticAnnotation])

	obs = createdFrom(t, config, elastic, with(builder.RoleWorker, observed.Running))
	obs.Environment = made
	require.Empty(t, done(Decide(obs, config)), "one of two is there")
	obs.VolcanoJob.Status.State.Phase = vcbatch.Restarting
	require.Empty(t, done(Decide(obs, config)))
	obs.VolcanoJob.Status.State.Phase = vcbatch.Running
	obs.Environment = nil
	require.Equal(t, []string{"create environment"}, done(Decide(obs, config)))
}

func TestEnvironmentIsRepaired(t *testing.T) {
	for name, spoil := range map[string]func(*corev1.ConfigMap){
		"label": func(cm *corev1.ConfigMap) { delete(cm.Labels, v1.JobNameLabel) },
		"data":  func(cm *corev1.ConfigMap) { cm.Data["PADDLE_PORT"] = "1" },
	} {
		obs := created(t, vcbatch.Running, with(builder.RolePS, observed.Starting), with(builder.RoleWorker, observed.Starting, observed.Starting), environmentOf)
		require.Nil(t, environmentIn(Decide(obs, config)))
		spoil(obs.Environment)
		require.Equal(t, []string{"update environment"}, done(Decide(obs, config)), name)
	}
	// What an elastic job reads does not tell its gangs apart.
	obs := createdFrom(t, config, elastic)
	obs.Environment = builder.ConfigMap(obs.Job, nil, "", config)
	require.Empty(t, done(Decide(obs, config)))
	obs.Environment.Annotations = map[string]string{v1.GangAnnotation: "x"}
	require.Equal(t, []string{"update environment"}, done(Decide(obs, config)))
}

func TestAsCreatedHasTheRolesThatThereAre(t *testing.T) {
	obs := createdFrom(t, config, func(s *v1.PaddleJobSpec) { s.PS = nil })
	made := asCreated(obs)
	require.Nil(t, made.Spec.PS)
	require.Nil(t, made.Spec.Heter)
	require.EqualValues(t, 2, made.Spec.Worker.Replicas)
}

// A kubelet that has looked for the environment in vain looks again when the pod changes.
func TestPodsThatFoundNoEnvironmentAreRetried(t *testing.T) {
	t.Parallel()
	waits := func(reason string) []corev1.ContainerStatus {
		return []corev1.ContainerStatus{{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}}}}
	}
	pods := func(obs *observed.State) {
		obs.Pods[0].Status.InitContainerStatuses = waits(reasonNoConfig)
		obs.Pods[1].Status.ContainerStatuses = waits(reasonNoConfig)
		obs.Pods[2].Status.ContainerStatuses = waits("ContainerCreating")
	}
	starting := []change{with(builder.RolePS, observed.Starting), with(builder.RoleWorker, observed.Starting, observed.Starting), pods}
	require.Equal(t, []string{"create environment"}, done(Decide(created(t, vcbatch.Pending, starting...), config)), "it is written first")
	obs := created(t, vcbatch.Pending, append(starting, environmentOf)...)
	require.Equal(t, []string{"annotate " + obs.Pods[0].Name + ": " + v1.GangAnnotation, "annotate " + obs.Pods[1].Name + ": " + v1.GangAnnotation}, done(Decide(obs, config)))
	for _, pod := range obs.Pods {
		pod.Annotations[v1.GangAnnotation] = obs.Environment.Annotations[v1.GangAnnotation]
	}
	require.Empty(t, done(Decide(obs, config)), "once")
	obs.Pods[0].Annotations[v1.GangAnnotation] = "another"
	require.Len(t, done(Decide(obs, config)), 1, "and once more in the next gang")
}
