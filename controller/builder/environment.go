// SPDX-License-Identifier: Apache-2.0

package builder

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
)

const (
	envPodName = "POD_NAME"
	envPodIP   = "POD_IP"
	envRank    = "RANK"
	indexPath  = "metadata.labels['" + v1.TaskIndexLabel + "']"
)

// addEnvironment gives container 0, where training runs, the variables of the job.
func addEnvironment(warnings *Causes, spec *corev1.PodSpec, job *v1.PaddleJob, r Role, cfg Config) {
	if len(spec.Containers) == 0 {
		return
	}
	first := &spec.Containers[0]
	byUser := map[string]corev1.EnvVar{}
	for _, variable := range first.Env {
		byUser[variable.Name] = variable
	}
	added := variables(job, r, cfg, byUser)
	overridden(warnings, job, r, added, byUser, cfg)
	added = slices.DeleteFunc(added, func(variable corev1.EnvVar) bool {
		_, set := byUser[variable.Name]
		return set
	})
	// The controller's variables stand first so that the user's can refer to them: $(NAME) sees only what stands above.
	first.Env = append(added, first.Env...)
	// Of two sources the later wins: the user's.
	first.EnvFrom = append([]corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{
		LocalObjectReference: corev1.LocalObjectReference{Name: job.Name},
	}}}, first.EnvFrom...)
}

// variables are those that differ from pod to pod, in an order in which each refers only to earlier ones.
//
// POD_IP is the text by which the pod is known in every list of the ConfigMap: the launcher takes it for its own host,
// which it compares with the master's, and a server looks for POD_IP:PADDLE_PORT among the servers. In Service mode it
// has a dot, without which the launcher would not adopt it. PADDLE_CURRENT_IP is always the IP. A pod is given its IP by
// annotation where Kubernetes may give it one that Paddle cannot use: metadata is read when its container starts, which is
// when the ConfigMap is there, and that is written last.
func variables(job *v1.PaddleJob, r Role, cfg Config, byUser map[string]corev1.EnvVar) []corev1.EnvVar {
	all := []corev1.EnvVar{fromField(envPodName, "metadata.name")}
	ip := "status.podIP"
	if Announced(job, cfg) {
		ip = "metadata.annotations['" + v1.AddressAnnotation + "']"
	}
	if Intranet(job, cfg) == v1.Service {
		// A POD_NAME of the user's stands below the controller's and may be anything, so the pod's name then needs another one.
		name := envPodName
		for _, set := byUser[name]; set; _, set = byUser[name] {
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
		all = append(all,
			fromField("PADDLE_PORT", "metadata.annotations['"+v1.PortAnnotation+"']"),
			// The launcher looks for free ports in it (distributed/launch/context/node.py).
			fromField("PORT_RANGE", "metadata.annotations['"+v1.PortRangeAnnotation+"']"),
		)
	}
	// PADDLE_TRAINER_ID is the launcher's rank since mid-2023. Before, it read PADDLE_RANK, and the launcher of 2.3 fails on
	// any value of that one; without it those releases give worker 0, the master's host, rank 0 and the others their own in
	// the order in which they arrive.
	//
	// Elastic workers agree on their ranks.
	if !Elastic(job) {
		all = append(all, fromField("PADDLE_TRAINER_ID", indexPath))
	}
	// RANK is for paddleformers-cli, NODE_RANK for start scripts: no code of Paddle's reads that.
	if Mode(job) == v1.ModeCollective && !Elastic(job) {
		all = append(all, fromField(envRank, indexPath), fromField("NODE_RANK", indexPath))
	}
	all = append(all,
		corev1.EnvVar{Name: "TRAINING_ROLE", Value: trainingRoles[r.Name]},
		corev1.EnvVar{Name: "PADDLE_TRAINING_ROLE", Value: trainingRoles[r.Name]},
	)
	return append(all, heterVariables(job, r)...)
}

func fromField(name, path string) corev1.EnvVar {
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{
		FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: path},
	}}
}

// overridden warns of the controller's variables, the ConfigMap's included, that the template sets to other values.
func overridden(warnings *Causes, job *v1.PaddleJob, r Role, added []corev1.EnvVar, byUser map[string]corev1.EnvVar, cfg Config) {
	var names []string
	for _, variable := range added {
		if own, set := byUser[variable.Name]; set && !same(own, variable) {
			names = append(names, variable.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(contract(job, nil, 0, cfg))) {
		if _, set := byUser[name]; set {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return
	}
	warnings.Add(ReasonEnvironmentOverridden, "%s.template.spec.containers[0].env sets %s, and its values are used instead of the "+
		"controller's: they must agree with what the other pods are given in ConfigMap %s, so leave them out unless that is meant",
		r.field(), strings.Join(names, ", "), job.Name)
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

// Stages of heterogeneous training: the workers hold the first part of the model, the heterogeneous workers the second.
const (
	workerStage = "1"
	heterStage  = "2"
	stages      = "2"
)

const (
	allHeter     = "PADDLE_ALL_HETER_TRAINER_IP_PORT_LIST"
	allServers   = "PADDLE_PSERVERS_IP_PORT_LIST"
	allTrainers  = "PADDLE_TRAINER_ENDPOINTS"
	heterDevices = "HETER_DEVICE_TYPE"
)

// heterContract is what is the same in every pod of a job with heterogeneous workers.
//
// What reads it: PaddleCloudRoleMaker (fleet/base/role_maker.py) since 2.2. It takes every process's stage for one of a
// pipeline. It evaluates PADDLE_STAGE_TRAINERS_NUM as a list with the number of processes of each stage, and finds a
// heterogeneous worker's number by the text POD_IP:PADDLE_PORT in the list of all. PADDLE_HETER_TRAINER_DEVICE is for 2.0
// and 2.1, which know no stages.
func heterContract(job *v1.PaddleJob, endpoints string) map[string]string {
	workers := int32(0)
	if job.Spec.Worker != nil {
		workers = job.Spec.Worker.Replicas
	}
	return map[string]string{
		allHeter:                      endpoints,
		"STAGE_NUM":                   stages,
		"PADDLE_STAGE_TRAINERS_NUM":   fmt.Sprintf("[%d, %d]", workers, job.Spec.Heter.Replicas),
		"PADDLE_HETER_TRAINER_DEVICE": device(&job.Spec.Heter.Template.Spec),
	}
}

// heterVariables are the variables of one role of a job with heterogeneous workers. The first stage has no list of the one
// before, and the last none of the one after: role makers recognize them by that.
func heterVariables(job *v1.PaddleJob, r Role) []corev1.EnvVar {
	if job.Spec.Heter == nil {
		return nil
	}
	all := []corev1.EnvVar{
		fromKey("PADDLE_HETER_TRAINER_IP_PORT_LIST", job, allHeter), // 2.0 and 2.1
		fromKey("PADDLE_HETER_ENDPOINTS", job, allHeter),            // paddle-operator's; start scripts may read it
	}
	stage, neighbor := workerStage, fromKey("PADDLE_NEXT_HETER_TRAINER_IP_PORT_LIST", job, allHeter)
	switch r.Name {
	case RolePS:
		return all
	case RoleHeter:
		stage, neighbor = heterStage, fromKey("PADDLE_PREVIOUS_HETER_TRAINER_IP_PORT_LIST", job, allTrainers)
	}
	return append(all, corev1.EnvVar{Name: "STAGE_ID", Value: stage},
		corev1.EnvVar{Name: heterDevices, Value: device(&r.Spec.Template.Spec)}, neighbor)
}

// device is what a pod trains on, in Paddle's words, by the resources of its first container.
func device(spec *corev1.PodSpec) string {
	if len(spec.Containers) == 0 {
		return "cpu"
	}
	found := "cpu"
	for name, quantity := range spec.Containers[0].Resources.Limits { // requests of devices without limits are refused
		switch text := string(name); {
		case !IsExtended(name) || quantity.IsZero():
		case strings.Contains(text, "gpu"):
			return "gpu"
		case strings.Contains(text, "xpu"):
			found = "xpu"
		}
	}
	return found
}

// fromKey is a variable that repeats a text of the ConfigMap under another name.
func fromKey(name string, job *v1.PaddleJob, key string) corev1.EnvVar {
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{
		LocalObjectReference: corev1.LocalObjectReference{Name: job.Name}, Key: key,
	}}}
}
