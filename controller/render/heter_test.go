// SPDX-License-Identifier: Apache-2.0

package render

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
)

func heter(replicas int) change {
	return func(job *v1.PaddleJob) { job.Spec.Heter = roleOf(replicas) }
}

func heterLimits(pairs ...string) change {
	return func(job *v1.PaddleJob) {
		job.Spec.Heter.Template.Spec.Containers[0].Resources.Limits = list(pairs...)
	}
}

func TestHeterEnvironment(t *testing.T) {
	job := paddleJob(1, 2, heter(3), heterLimits("nvidia.com/gpu", "1"))
	made, told := mustJob(t, job)
	require.Empty(t, told)
	shared := []string{"PADDLE_HETER_TRAINER_IP_PORT_LIST", "PADDLE_HETER_ENDPOINTS"}
	for name, c := range map[string]struct {
		training, stage, device string
		lists                   map[string]string
	}{
		RolePS: {"PSERVER", "", "", nil},
		RoleWorker: {"TRAINER", "1", "cpu", map[string]string{
			"PADDLE_NEXT_HETER_TRAINER_IP_PORT_LIST": "PADDLE_ALL_HETER_TRAINER_IP_PORT_LIST"}},
		RoleHeter: {"HETER_TRAINER", "2", "gpu", map[string]string{
			"PADDLE_PREVIOUS_HETER_TRAINER_IP_PORT_LIST": "PADDLE_TRAINER_ENDPOINTS"}},
	} {
		t.Run(name, func(t *testing.T) {
			env := taskOf(t, made, name).Template.Spec.Containers[0].Env
			_, values := written(env)
			require.Equal(t, c.training, values["TRAINING_ROLE"])
			require.Equal(t, c.stage, values["STAGE_ID"])
			require.Equal(t, c.device, values["HETER_DEVICE_TYPE"])
			lists := map[string]string{}
			for _, variable := range env {
				if from := variable.ValueFrom; from != nil && from.ConfigMapKeyRef != nil {
					require.Equal(t, "wide", from.ConfigMapKeyRef.Name)
					require.Nil(t, from.ConfigMapKeyRef.Optional)
					lists[variable.Name] = from.ConfigMapKeyRef.Key
				}
			}
			want := map[string]string{shared[0]: allHeter, shared[1]: allHeter}
			require.Equal(t, merged(want, c.lists), lists)
		})
	}
	data := ConfigMap(job, Addresses{RolePS: {"a"}, RoleWorker: {"b", "c"}, RoleHeter: {"d", "e", "f"}}, "g", Config{}).Data
	require.Equal(t, "d:36000,e:36000,f:36000", data["PADDLE_ALL_HETER_TRAINER_IP_PORT_LIST"])
	require.Equal(t, "[2, 3]", data["PADDLE_STAGE_TRAINERS_NUM"])
	require.Equal(t, "2", data["STAGE_NUM"])
	require.Equal(t, "gpu", data["PADDLE_HETER_TRAINER_DEVICE"])
}

func TestHeterDevice(t *testing.T) {
	for name, c := range map[string]struct {
		limits []string
		want   string
	}{
		"none":          {nil, "cpu"},
		"cpu":           {[]string{"cpu", "2", "memory", "1Gi"}, "cpu"},
		"gpu":           {[]string{"cpu", "2", "nvidia.com/gpu", "2"}, "gpu"},
		"gpu of none":   {[]string{"nvidia.com/gpu", "0"}, "cpu"},
		"xpu":           {[]string{"kunlunxin.com/xpu", "1"}, "xpu"},
		"gpu and xpu":   {[]string{"kunlunxin.com/xpu", "1", "nvidia.com/gpu", "1"}, "gpu"},
		"a shared gpu":  {[]string{"volcano.sh/vgpu-number", "1"}, "gpu"},
		"not a device":  {[]string{"requests.gpu", "1"}, "cpu"},
		"other devices": {[]string{"rdma/hca", "1"}, "cpu"},
	} {
		t.Run(name, func(t *testing.T) {
			spec := &corev1.PodSpec{Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{Limits: list(c.limits...)}}}}
			require.Equal(t, c.want, device(spec))
		})
	}
	require.Equal(t, "cpu", device(&corev1.PodSpec{}))
}

func TestHeterIsPartOfTheGang(t *testing.T) {
	for name, c := range map[string]struct {
		job  *v1.PaddleJob
		want map[string]int32
	}{
		"whole":          {paddleJob(1, 4, heter(2)), map[string]int32{RolePS: 1, RoleWorker: 4, RoleHeter: 2}},
		"fewer workers":  {paddleJob(1, 4, heter(2), minAvailable(5)), map[string]int32{RolePS: 1, RoleWorker: 2, RoleHeter: 2}},
		"never none":     {paddleJob(1, 4, heter(2), minAvailable(1)), map[string]int32{RolePS: 1, RoleWorker: 1, RoleHeter: 2}},
		"no more either": {paddleJob(1, 4, heter(2), minAvailable(7)), map[string]int32{RolePS: 1, RoleWorker: 4, RoleHeter: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, members(c.job, Wish{}))
			made, _ := mustJob(t, c.job)
			require.Len(t, made.Spec.Tasks, 3)
			require.Equal(t, c.want[RoleHeter], *taskOf(t, made, RoleHeter).MinAvailable)
			require.Empty(t, taskOf(t, made, RoleHeter).Policies, "the workers' end is the job's")
		})
	}
}

func TestHeterIsRefusedAlone(t *testing.T) {
	for name, job := range map[string]*v1.PaddleJob{
		"without servers": paddleJob(0, 2, heter(1)),
	} {
		t.Run(name, func(t *testing.T) {
			found := Validate(job, Wish{}, Config{})
			require.Len(t, found, 1)
			requireNotice(t, found, ReasonHeterAlone, "spec.heter", "spec.ps")
		})
	}
	requireNotice(t, Validate(paddleJob(1, 0, heter(1)), Wish{}, Config{}), ReasonHeterAlone, "spec.worker")
	requireNotice(t, Validate(paddleJob(0, 0, heter(1)), Wish{}, Config{}), ReasonHeterAlone, "spec.worker")
}
