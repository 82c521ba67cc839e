// SPDX-License-Identifier: Apache-2.0

package builder

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
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

const index = "<metadata.labels['volcano.sh/task-index']>"

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
			got, warnings := mustJob(t, c.job)
			require.Empty(t, warnings)
			first := taskOf(t, got, c.role).Template.Spec.Containers[0]
			names, values := written(first.Env)
			want := map[string]string{
				"POD_NAME":             "<metadata.name>",
				"POD_IP":               c.podIP,
				"PADDLE_CURRENT_IP":    "<status.podIP>",
				"PADDLE_TRAINER_ID":    index,
				"TRAINING_ROLE":        c.training,
				"PADDLE_TRAINING_ROLE": c.training,
			}
			if Mode(c.job) == v1.ModeCollective {
				want["RANK"], want["NODE_RANK"] = index, index
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
	got, _ := Job(paddleJob(0, 2), PodGroupOverrides{}, Config{DefaultIntranet: v1.Service})
	_, values := written(taskOf(t, got, RoleWorker).Template.Spec.Containers[0].Env)
	require.Equal(t, "$(POD_NAME).wide", values["POD_IP"])
}

func TestEnvironmentOfTheUserWins(t *testing.T) {
	user := corev1.EnvFromSource{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "s"}}}
	template, warnings := workerTemplate(t, paddleJob(2, 2,
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
	}, names, "the controller's without those that the user has, then the user's as they were")
	require.Equal(t, "WORKER", values["TRAINING_ROLE"])
	require.Equal(t, "10.0.0.1", values["POD_IP"])
	require.Equal(t, "wide", first.EnvFrom[0].ConfigMapRef.Name, "of two sources the later wins")
	require.Equal(t, user, first.EnvFrom[1])
	requireCause(t, warnings, ReasonEnvironmentOverridden, "spec.worker.template.spec.containers[0].env",
		"POD_IP, TRAINING_ROLE, PADDLE_PORT", "ConfigMap wide")
}

func TestEqualVariablesAreNotReported(t *testing.T) {
	ip := func(version string) *corev1.EnvVarSource {
		return &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{APIVersion: version, FieldPath: "status.podIP"}}
	}
	template, warnings := workerTemplate(t, paddleJob(2, 2, workerEnv(
		corev1.EnvVar{Name: "POD_IP", ValueFrom: ip("")},
		corev1.EnvVar{Name: "PADDLE_CURRENT_IP", ValueFrom: ip("v1")},
		corev1.EnvVar{Name: "TRAINING_ROLE", Value: "TRAINER"},
	)))
	require.Empty(t, warnings)
	require.Contains(t, template.Spec.Containers[0].Env, corev1.EnvVar{Name: "POD_IP", ValueFrom: ip("")}, "as the user wrote it")
	_, warnings = workerTemplate(t, paddleJob(2, 2, intranet(v1.Service), workerEnv(corev1.EnvVar{Name: "POD_IP", ValueFrom: ip("v1")})))
	requireCause(t, warnings, ReasonEnvironmentOverridden, "POD_IP")
}

// What Paddle's command lines read is the controller's in collective jobs alone.
func TestEnvironmentOfFrontEnds(t *testing.T) {
	own := workerEnv(corev1.EnvVar{Name: "RANK", Value: "1"}, corev1.EnvVar{Name: "NODE_RANK", Value: "1"}, corev1.EnvVar{Name: "NNODES", Value: "1"},
		corev1.EnvVar{Name: "MASTER_ADDR", Value: "me"}, corev1.EnvVar{Name: "MASTER_PORT", Value: "1"})
	for name, c := range map[string]struct {
		job      *v1.PaddleJob
		warnings bool
	}{
		"collective": {paddleJob(0, 2, own), true},
		"servers":    {paddleJob(2, 2, own), false},
		"single":     {paddleJob(0, 1, own), false},
	} {
		t.Run(name, func(t *testing.T) {
			template, warnings := workerTemplate(t, c.job)
			_, values := written(template.Spec.Containers[0].Env)
			require.Equal(t, "1", values["RANK"], "the user's own value")
			if !c.warnings {
				require.Empty(t, warnings)
				return
			}
			requireCause(t, warnings, ReasonEnvironmentOverridden, "RANK, NODE_RANK, MASTER_ADDR, MASTER_PORT, NNODES")
		})
	}
}

// The controller sets Gloo's variables only where gloo is on.
func TestEnvironmentKnowsItsConfigMap(t *testing.T) {
	gloo := workerEnv(corev1.EnvVar{Name: "PADDLE_WITH_GLOO", Value: "1"})
	_, warnings := workerTemplate(t, paddleJob(2, 2, gloo))
	require.Empty(t, warnings)
	_, warnings = workerTemplate(t, paddleJob(2, 2, gloo, withGloo(2)))
	requireCause(t, warnings, ReasonEnvironmentOverridden, "PADDLE_WITH_GLOO")
}

func TestEnvironmentNamesThePodDespiteTheUser(t *testing.T) {
	field := &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}
	user := []corev1.EnvVar{{Name: "POD_NAME", ValueFrom: field}, {Name: "PADDLE_POD_NAME", Value: "x"}}
	template, warnings := workerTemplate(t, paddleJob(0, 2, intranet(v1.Service), workerEnv(user[:1]...)))
	names, values := written(template.Spec.Containers[0].Env)
	require.Equal(t, []string{"PADDLE_POD_NAME", "POD_IP"}, names[:2])
	require.Equal(t, "<metadata.name>", values["PADDLE_POD_NAME"])
	require.Equal(t, "$(PADDLE_POD_NAME).wide", values["POD_IP"])
	require.Empty(t, warnings)

	template, _ = workerTemplate(t, paddleJob(0, 2, intranet(v1.Service), workerEnv(user...)))
	_, values = written(template.Spec.Containers[0].Env)
	require.Equal(t, "$(PADDLE_PADDLE_POD_NAME).wide", values["POD_IP"])
	require.Equal(t, "x", values["PADDLE_POD_NAME"])
}

// everyShape is a job of each mode, in each network, with all that adds variables.
func everyShape() (all []*v1.PaddleJob) {
	for _, network := range []v1.Intranet{v1.PodIP, v1.Service, v1.Host} {
		all = append(all,
			paddleJob(2, 2, intranet(network)), paddleJob(2, 2, intranet(network), withGloo(0)), paddleJob(2, 2, intranet(network), withGloo(2)),
			paddleJob(0, 2, intranet(network)), paddleJob(0, 1, intranet(network)), paddleJob(1, 2, intranet(network), heter(2)),
			paddleJob(0, 2, intranet(network), elastic(1, 4), func(job *v1.PaddleJob) {
				job.Spec.ElasticPolicy = &v1.ElasticPolicy{Etcd: "kv:1", TimeoutSeconds: ptr.To[int32](9), MaxRestarts: ptr.To[int32](3)}
			}))
	}
	return all
}

// variablesOf are the names of all variables that the pods of a job get.
func variablesOf(t *testing.T, job *v1.PaddleJob) (names []string) {
	t.Helper()
	got, _ := mustJob(t, job)
	for i := range got.Spec.Tasks {
		own, _ := written(got.Spec.Tasks[i].Template.Spec.Containers[0].Env)
		names = append(names, own...)
	}
	for name := range ConfigMap(job, ServiceAddresses(job), "", Config{}).Data {
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// The rows of fields.md about the environment have every variable that a pod gets.
func TestEveryVariableHasARow(t *testing.T) {
	text, err := os.ReadFile("../../deploy/docs/reference/fields.md")
	require.NoError(t, err)
	_, section, found := strings.Cut(string(text), "## paddle-operator: environment\n")
	require.True(t, found, "fields.md has no such section")
	section, _, _ = strings.Cut(section, "\n#")
	listed := map[string]bool{}
	for line := range strings.SplitSeq(section, "\n") {
		if cells := strings.Split(line, "|"); len(cells) > 1 {
			for _, name := range regexp.MustCompile("`([A-Z_]+)`").FindAllStringSubmatch(cells[1], -1) {
				listed[name[1]] = true
			}
		}
	}
	given := map[string]bool{}
	for _, job := range everyShape() {
		for _, name := range variablesOf(t, job) {
			given[name] = true
			require.True(t, listed[name], "%s has no row", name)
		}
	}
	for name := range listed {
		require.True(t, given[name] || slices.Contains(operatorsOwn, name), "%s has a row, and no pod gets it", name)
	}
}

// operatorsOwn are paddle-operator's variables of an elastic launcher that is no more: with any of them the launcher of
// today runs in its legacy mode.
var operatorsOwn = []string{"PADDLE_ELASTIC_JOB_ID", "PADDLE_ELASTIC_NP"}

func TestNoPodGetsWhatTheLauncherTakesForItsOldForm(t *testing.T) {
	for _, job := range everyShape() {
		for _, name := range operatorsOwn {
			require.NotContains(t, variablesOf(t, job), name)
		}
		// Endpoints say the same, and gloo without servers is served by no pod.
		if !Elastic(job) {
			require.NotContains(t, variablesOf(t, job), "PADDLE_MASTER")
			require.NotContains(t, variablesOf(t, job), "PADDLE_NNODES")
		}
		if job.Spec.PS == nil {
			require.NotContains(t, variablesOf(t, job), "PADDLE_WITH_GLOO")
		}
	}
}

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
	made, warnings := mustJob(t, job)
	require.Empty(t, warnings)
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
			require.Equal(t, c.want, members(c.job, PodGroupOverrides{}))
			made, _ := mustJob(t, c.job)
			require.Len(t, made.Spec.Tasks, 3)
			require.Equal(t, c.want[RoleHeter], *taskOf(t, made, RoleHeter).MinAvailable)
			require.Empty(t, taskOf(t, made, RoleHeter).Policies, "the workers' end is the job's")
		})
	}
}
