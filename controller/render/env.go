// SPDX-License-Identifier: Apache-2.0

package render

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/keys"
)

const (
	envPodName = "POD_NAME"
	envPodIP   = "POD_IP"
	envRank    = "RANK"
)

// addEnvironment gives container 0, where training runs, the variables of the job.
func addEnvironment(spec *corev1.PodSpec, job *v1.PaddleJob, r role, cfg Config) notices {
	if len(spec.Containers) == 0 {
		return nil
	}
	first := &spec.Containers[0]
	theirs := map[string]corev1.EnvVar{}
	for _, variable := range first.Env {
		theirs[variable.Name] = variable
	}
	ours := variables(job, r, cfg, theirs)
	told := overridden(job, r, ours, theirs, cfg)
	ours = slices.DeleteFunc(ours, func(variable corev1.EnvVar) bool {
		_, set := theirs[variable.Name]
		return set
	})
	// Ours stand first so that the user's can refer to them: $(NAME) sees only what stands above.
	first.Env = append(ours, first.Env...)
	// Of two sources the later wins: the user's.
	first.EnvFrom = append([]corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{
		LocalObjectReference: corev1.LocalObjectReference{Name: job.Name},
	}}}, first.EnvFrom...)
	return told
}

// variables are those that differ from pod to pod, in an order in which each refers only to earlier ones.
//
// POD_IP is the text by which the pod is known in every list of the ConfigMap: the launcher takes it for its own host,
// which it compares with the master's, and a server looks for POD_IP:PADDLE_PORT among the servers. In Service mode it
// has a dot, without which the launcher would not adopt it. PADDLE_CURRENT_IP is always the IP. A pod is told its IP by
// annotation where Kubernetes may give it one that Paddle cannot use: metadata is read when its container starts, which is
// when the ConfigMap is there, and that is written last.
func variables(job *v1.PaddleJob, r role, cfg Config, theirs map[string]corev1.EnvVar) []corev1.EnvVar {
	all := []corev1.EnvVar{fromField(envPodName, "metadata.name")}
	ip := "status.podIP"
	if Announced(job, cfg) {
		ip = "metadata.annotations['" + keys.Address + "']"
	}
	if Intranet(job, cfg) == v1.Service {
		// A POD_NAME of the user's stands below ours and may be anything, so the pod's name then needs another one.
		name := envPodName
		for _, set := theirs[name]; set; _, set = theirs[name] {
			name = "PADDLE_" + name
		}
		if name != envPodName {
			all = append(all, fromField(name, "metadata.name"))
		}
		all = append(all, corev1.EnvVar{Name: envPodIP, Value: "$(" + name + ")." + job.Name})
	} else {
		all = append(all, fromField(envPodIP, ip))
	}
	all = append(all, fromField("PADDLE_CURRENT_IP", ip))
	if HostPorts(job, cfg) {
		all = append(all, hostVariables()...)
	}
	// PADDLE_TRAINER_ID is the launcher's rank since mid-2023. Before, it read PADDLE_RANK, and the launcher of 2.3 fails on
	// any value of that one; without it those releases give worker 0, the master's host, rank 0 and the others theirs in
	// the order in which they arrive.
	//
	// Elastic workers are ranked by what they tell each other.
	if !Elastic(job) {
		all = append(all, fromField("PADDLE_TRAINER_ID", "metadata.labels['"+keys.TaskIndex+"']"))
	}
	if Mode(job) == v1.ModeCollective && !Elastic(job) {
		all = append(all, fromField(envRank, "metadata.labels['"+keys.TaskIndex+"']"))
	}
	all = append(all,
		corev1.EnvVar{Name: "TRAINING_ROLE", Value: r.training},
		corev1.EnvVar{Name: "PADDLE_TRAINING_ROLE", Value: r.training},
	)
	return append(all, heterVariables(job, r)...)
}

func fromField(name, path string) corev1.EnvVar {
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{
		FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: path},
	}}
}

// overridden tells which of our variables, the ConfigMap's included, the template sets to something else.
func overridden(job *v1.PaddleJob, r role, ours []corev1.EnvVar, theirs map[string]corev1.EnvVar, cfg Config) notices {
	var names []string
	for _, variable := range ours {
		if own, set := theirs[variable.Name]; set && !same(own, variable) {
			names = append(names, variable.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(contract(job, nil, 0, cfg))) {
		if _, set := theirs[name]; set {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	var told notices
	told.add(ReasonEnvironmentOverridden, "%s.template.spec.containers[0].env sets %s, and its values are used instead of the "+
		"controller's: they must agree with what the other pods are told in ConfigMap %s, so leave them out unless that is meant",
		r.field, strings.Join(names, ", "), job.Name)
	return told
}

// same compares two variables as Kubernetes would read them.
func same(a, b corev1.EnvVar) bool {
	return equality.Semantic.DeepEqual(withVersion(a), withVersion(b))
}

func withVersion(variable corev1.EnvVar) corev1.EnvVar {
	variable = *variable.DeepCopy()
	if from := variable.ValueFrom; from != nil && from.FieldRef != nil && from.FieldRef.APIVersion == "" {
		from.FieldRef.APIVersion = "v1"
	}
	return variable
}
