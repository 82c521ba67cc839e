// SPDX-License-Identifier: Apache-2.0

package render

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
)

// written has each variable as "value" or "<path of the field>", in order.
func written(variables []corev1.EnvVar) (names []string, values map[string]string) {
	values = map[string]string{}
	for _, variable := range variables {
		names = append(names, variable.Name)
		values[variable.Name] = variable.Value
		if from := variable.ValueFrom; from != nil && from.FieldRef != nil {
			values[variable.Name] = "<" + from.FieldRef.FieldPath + ">"
		}
	}
	return names, values
}

const indexPath = "<metadata.labels['volcano.sh/task-index']>"

func TestEnvironmentOfEachMode(t *testing.T) {
	service := func(pod string) string { return "$(" + pod + ").wide" }
	cases := map[string]struct {
		job      *v1.PaddleJob
		role     string
		podIP    string
		training string
	}{
		"server":              {paddleJob(2, 2), RolePS, "<status.podIP>", "PSERVER"},
		"worker with servers": {paddleJob(2, 2), RoleWorker, "<status.podIP>", "TRAINER"},
		"collective":          {paddleJob(0, 2), RoleWorker, "<status.podIP>", "TRAINER"},
		"single":              {paddleJob(0, 1), RoleWorker, "<status.podIP>", "TRAINER"},
		"server by name":      {paddleJob(2, 2, intranet(v1.Service)), RolePS, service("POD_NAME"), "PSERVER"},
		"collective by name":  {paddleJob(0, 2, intranet(v1.Service)), RoleWorker, service("POD_NAME"), "TRAINER"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, told := mustJob(t, c.job)
			require.Empty(t, told)
			first := taskOf(t, got, c.role).Template.Spec.Containers[0]
			names, values := written(first.Env)
			want := map[string]string{
				"POD_NAME":             "<metadata.name>",
				"POD_IP":               c.podIP,
				"PADDLE_CURRENT_IP":    "<status.podIP>",
				"PADDLE_TRAINER_ID":    indexPath,
				"TRAINING_ROLE":        c.training,
				"PADDLE_TRAINING_ROLE": c.training,
			}
			if Mode(c.job) == v1.ModeCollective {
				want["RANK"] = indexPath
			}
			require.Equal(t, want, values)
			// $(POD_NAME) is expanded only below POD_NAME.
			require.Equal(t, []string{"POD_NAME", "POD_IP"}, names[:2])
			require.Len(t, first.EnvFrom, 1)
			require.Equal(t, "wide", first.EnvFrom[0].ConfigMapRef.Name)
			require.Nil(t, first.EnvFrom[0].ConfigMapRef.Optional, "containers must wait for the addresses")
		})
	}
}

func TestEnvironmentFollowsTheDefaultIntranet(t *testing.T) {
	got, _ := Job(paddleJob(0, 2), Wish{}, Config{DefaultIntranet: v1.Service})
	_, values := written(taskOf(t, got, RoleWorker).Template.Spec.Containers[0].Env)
	require.Equal(t, "$(POD_NAME).wide", values["POD_IP"])
}

func TestEnvironmentOfTheUserWins(t *testing.T) {
	user := corev1.EnvFromSource{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "s"}}}
	template, told := workerTemplate(t, paddleJob(2, 2,
		workerEnv(
			corev1.EnvVar{Name: "FIRST", Value: "$(PADDLE_TRAINER_ID)"},
			corev1.EnvVar{Name: "TRAINING_ROLE", Value: "WORKER"},
			corev1.EnvVar{Name: "PADDLE_PORT", Value: "30236"},
			corev1.EnvVar{Name: "POD_IP", Value: "10.0.0.1"},
		),
		workerContainer(func(c *corev1.Container) { c.EnvFrom = []corev1.EnvFromSource{user} }),
	))
	first := template.Spec.Containers[0]
	names, values := written(first.Env)
	require.Equal(t, []string{
		"POD_NAME", "PADDLE_CURRENT_IP", "PADDLE_TRAINER_ID", "PADDLE_TRAINING_ROLE",
		"FIRST", "TRAINING_ROLE", "PADDLE_PORT", "POD_IP",
	}, names, "ours without those that the user has, then the user's as they were")
	require.Equal(t, "WORKER", values["TRAINING_ROLE"])
	require.Equal(t, "10.0.0.1", values["POD_IP"])
	require.Equal(t, "wide", first.EnvFrom[0].ConfigMapRef.Name, "of two sources the later wins")
	require.Equal(t, user, first.EnvFrom[1])
	requireNotice(t, told, ReasonEnvironmentOverridden, "spec.worker.template.spec.containers[0].env",
		"POD_IP, TRAINING_ROLE, PADDLE_PORT", "ConfigMap wide")
}

func TestEnvironmentSaysNothingOfEqualVariables(t *testing.T) {
	ip := func(version string) *corev1.EnvVarSource {
		return &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{APIVersion: version, FieldPath: "status.podIP"}}
	}
	template, told := workerTemplate(t, paddleJob(2, 2, workerEnv(
		corev1.EnvVar{Name: "POD_IP", ValueFrom: ip("")},
		corev1.EnvVar{Name: "PADDLE_CURRENT_IP", ValueFrom: ip("v1")},
		corev1.EnvVar{Name: "TRAINING_ROLE", Value: "TRAINER"},
	)))
	require.Empty(t, told)
	require.Contains(t, template.Spec.Containers[0].Env, corev1.EnvVar{Name: "POD_IP", ValueFrom: ip("")}, "as the user wrote it")
	_, told = workerTemplate(t, paddleJob(2, 2, intranet(v1.Service), workerEnv(corev1.EnvVar{Name: "POD_IP", ValueFrom: ip("v1")})))
	requireNotice(t, told, ReasonEnvironmentOverridden, "POD_IP")
}

// What Paddle's command lines read is the controller's in collective jobs alone.
func TestEnvironmentOfFrontEnds(t *testing.T) {
	own := workerEnv(corev1.EnvVar{Name: "RANK", Value: "1"}, corev1.EnvVar{Name: "NNODES", Value: "1"},
		corev1.EnvVar{Name: "MASTER_ADDR", Value: "me"}, corev1.EnvVar{Name: "MASTER_PORT", Value: "1"})
	for name, c := range map[string]struct {
		job  *v1.PaddleJob
		told bool
	}{
		"collective": {paddleJob(0, 2, own), true},
		"servers":    {paddleJob(2, 2, own), false},
		"single":     {paddleJob(0, 1, own), false},
	} {
		t.Run(name, func(t *testing.T) {
			template, told := workerTemplate(t, c.job)
			_, values := written(template.Spec.Containers[0].Env)
			require.Equal(t, "1", values["RANK"], "the user's own value")
			if !c.told {
				require.Empty(t, told)
				return
			}
			requireNotice(t, told, ReasonEnvironmentOverridden, "RANK, MASTER_ADDR, MASTER_PORT, NNODES")
		})
	}
}

// Gloo's variables are only ours where gloo is on.
func TestEnvironmentKnowsItsConfigMap(t *testing.T) {
	gloo := workerEnv(corev1.EnvVar{Name: "PADDLE_WITH_GLOO", Value: "1"})
	_, told := workerTemplate(t, paddleJob(2, 2, gloo))
	require.Empty(t, told)
	_, told = workerTemplate(t, paddleJob(2, 2, gloo, withGloo(2)))
	requireNotice(t, told, ReasonEnvironmentOverridden, "PADDLE_WITH_GLOO")
}

func TestEnvironmentNamesThePodDespiteTheUser(t *testing.T) {
	field := &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}
	user := []corev1.EnvVar{{Name: "POD_NAME", ValueFrom: field}, {Name: "PADDLE_POD_NAME", Value: "x"}}
	template, told := workerTemplate(t, paddleJob(0, 2, intranet(v1.Service), workerEnv(user[:1]...)))
	names, values := written(template.Spec.Containers[0].Env)
	require.Equal(t, []string{"PADDLE_POD_NAME", "POD_IP"}, names[:2])
	require.Equal(t, "<metadata.name>", values["PADDLE_POD_NAME"])
	require.Equal(t, "$(PADDLE_POD_NAME).wide", values["POD_IP"])
	require.Empty(t, told)

	template, _ = workerTemplate(t, paddleJob(0, 2, intranet(v1.Service), workerEnv(user...)))
	_, values = written(template.Spec.Containers[0].Env)
	require.Equal(t, "$(PADDLE_PADDLE_POD_NAME).wide", values["POD_IP"])
	require.Equal(t, "x", values["PADDLE_POD_NAME"])
}
