// SPDX-License-Identifier: Apache-2.0

package render

import (
	"math"
	"strconv"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
)

// role is one role that a job has.
type role struct {
	name string
	// field is where the user finds it.
	field string
	// training is what Paddle's role makers read from TRAINING_ROLE.
	training string
	spec     *v1.ResourceSpec
}

// roles returns the job's roles in the order of the constants.
func roles(job *v1.PaddleJob) []role {
	var all []role
	if job.Spec.PS != nil {
		all = append(all, role{name: RolePS, field: "spec.ps", training: "PSERVER", spec: job.Spec.PS})
	}
	if job.Spec.Worker != nil {
		all = append(all, role{name: RoleWorker, field: "spec.worker", training: "TRAINER", spec: job.Spec.Worker})
	}
	if job.Spec.Heter != nil {
		all = append(all, role{name: RoleHeter, field: "spec.heter", training: "HETER_TRAINER", spec: job.Spec.Heter})
	}
	return all
}

// replicas is the role's size as Volcano's API has it; what does not fit there is refused by Validate.
func (r role) replicas() int32 {
	return int32(min(max(r.spec.Replicas, 0), math.MaxInt32))
}

// Mode is how the job trains: with ps it is PS, else it is the number of workers that decides (paddle-operator's rule).
// An elastic job is collective also while it has one worker.
func Mode(job *v1.PaddleJob) v1.Mode {
	switch {
	case job.Spec.PS != nil:
		return v1.ModePS
	case job.Spec.Worker != nil && (job.Spec.Worker.Replicas > 1 || Elastic(job)):
		return v1.ModeCollective
	}
	return v1.ModeSingle
}

// Intranet is how the job's pods reach each other: its own choice, else the controller's default, else PodIP.
func Intranet(job *v1.PaddleJob, cfg Config) v1.Intranet {
	switch job.Spec.Intranet {
	case v1.Service, v1.Host:
		return job.Spec.Intranet
	case "":
		if cfg.DefaultIntranet != "" {
			return cfg.DefaultIntranet
		}
	}
	return v1.PodIP // also for what does not exist: paddle-operator's rule
}

// podName is the name that Volcano gives a pod of a Job: {job}-{task}-{index}.
func podName(job, role string, index int) string {
	return job + "-" + role + "-" + strconv.Itoa(index)
}
