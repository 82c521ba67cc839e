// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
)

// Stages of heterogeneous training: the workers hold the first part of the model, the heterogeneous workers the second.
const (
	workerStage = "1"
	heterStage  = "2"
	stages      = "2"
)

const (
	allHeter     = "PADDLE_ALL_HETER_TRAINER_IP_PORT_LIST"
	allTrainers  = "PADDLE_TRAINER_ENDPOINTS"
	heterDevices = "HETER_DEVICE_TYPE"
)

// heterContract is what is the same in every pod of a job with heterogeneous workers.
//
// What reads it: PaddleCloudRoleMaker (fleet/base/role_maker.py) since 2.2, which takes every process's stage for one of a
// pipeline, evaluates PADDLE_STAGE_TRAINERS_NUM as a list with the number of processes of each stage, and finds a
// heterogeneous worker's number by the text POD_IP:PADDLE_PORT in the list of all. PADDLE_HETER_TRAINER_DEVICE is for 2.0
// and 2.1, which know no stages.
func heterContract(job *v1.PaddleJob, endpoints string) map[string]string {
	workers := 0
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

// heterVariables are what a role of a job with heterogeneous workers has of its own. A stage that is the first, or the
// last, has no list of the one before, or after: role makers tell them by that.
func heterVariables(job *v1.PaddleJob, r role) []corev1.EnvVar {
	if job.Spec.Heter == nil {
		return nil
	}
	all := []corev1.EnvVar{
		fromKey("PADDLE_HETER_TRAINER_IP_PORT_LIST", job, allHeter), // 2.0 and 2.1
		fromKey("PADDLE_HETER_ENDPOINTS", job, allHeter),            // paddle-operator's; start scripts may read it
	}
	switch r.name {
	case RoleWorker:
		all = append(all,
			corev1.EnvVar{Name: "STAGE_ID", Value: workerStage},
			corev1.EnvVar{Name: heterDevices, Value: device(&r.spec.Template.Spec)},
			fromKey("PADDLE_NEXT_HETER_TRAINER_IP_PORT_LIST", job, allHeter),
		)
	case RoleHeter:
		all = append(all,
			corev1.EnvVar{Name: "STAGE_ID", Value: heterStage},
			corev1.EnvVar{Name: heterDevices, Value: device(&r.spec.Template.Spec)},
			fromKey("PADDLE_PREVIOUS_HETER_TRAINER_IP_PORT_LIST", job, allTrainers),
		)
	}
	return all
}

// device is what a pod trains on, in Paddle's words, by the resources of its first container.
func device(spec *corev1.PodSpec) string {
	if len(spec.Containers) == 0 {
		return "cpu"
	}
	found := "cpu"
	resources := &spec.Containers[0].Resources
	for _, list := range []corev1.ResourceList{resources.Requests, resources.Limits} {
		for name, quantity := range list {
			switch text := string(name); {
			case !isExtended(name) || quantity.IsZero():
			case strings.Contains(text, "gpu"):
				return "gpu"
			case strings.Contains(text, "xpu"):
				found = "xpu"
			}
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

func (n *notices) checkHeter(job *v1.PaddleJob) {
	if job.Spec.Heter != nil && (job.Spec.PS == nil || job.Spec.Worker == nil) {
		n.add(ReasonHeterAlone, "spec.heter needs spec.ps and spec.worker: heterogeneous workers are the second half of workers "+
			"that train with servers; set both, or make them spec.worker")
	}
}
