// SPDX-License-Identifier: Apache-2.0

package render

import (
	"k8s.io/apimachinery/pkg/util/validation"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
)

// Validate returns nil for a job that can be run, and otherwise everything that stands against it, in the order of the
// fields. It looks at the objects alone: whether a queue or a claim exists is not known here.
func Validate(job *v1.PaddleJob, wish Wish, cfg Config) []Notice {
	var found notices
	found.checkNames(job)
	found.checkRoles(job, cfg)
	found.checkScheduling(job, wish)
	found.checkPlacement(job)
	found.checkRun(job)
	found.checkNetwork(job, cfg)
	found.checkHeter(job)
	found.checkElastic(job, cfg)
	found.checkSampleSet(job)
	for _, r := range roles(job) {
		found.checkTemplate(job, r, cfg)
	}
	return found
}

// checkNames holds the job's name against what is made from it: a Service of that name, and host names of pods.
func (n *notices) checkNames(job *v1.PaddleJob) {
	if len(validation.IsDNS1035Label(job.Name)) > 0 {
		n.add(ReasonInvalidName, "metadata.name %q cannot be the name of the job's Service: use at most 63 lower case letters, digits "+
			"and '-', beginning with a letter and not ending with '-'", job.Name)
	}
	for _, r := range roles(job) {
		last := podName(job.Name, r.name, max(largest(job, r), 1)-1)
		if over := len(last) - validation.DNS1123LabelMaxLength; over > 0 {
			n.add(ReasonPodNameTooLong, "metadata.name is %d characters too long: pod %q would have %d, and a host name has at most %d",
				over, last, len(last), validation.DNS1123LabelMaxLength)
		}
	}
}

func (n *notices) checkRoles(job *v1.PaddleJob, cfg Config) {
	switch {
	case job.Spec.PS == nil && job.Spec.Worker == nil:
		n.add(ReasonNoRole, "spec has no role: set worker, and ps too for training with parameter servers")
	case job.Spec.Worker == nil:
		n.add(ReasonNoWorker, "spec.ps stands without spec.worker: servers do not train by themselves, set worker too")
	}
	for _, r := range roles(job) {
		most := mostPods(job.Name, r.name, Intranet(job, cfg))
		switch {
		case r.spec.Replicas <= 0:
			n.add(ReasonInvalidReplicas, "%s.replicas is %d: set it to 1 or more", r.field, r.spec.Replicas)
		case r.spec.Replicas > most:
			n.add(ReasonTooManyPods, "%s.replicas is %d, but the addresses of at most %d pods fit into one environment variable: "+
				"lower it, or shorten metadata.name", r.field, r.spec.Replicas, most)
		}
	}
}

func (n *notices) checkScheduling(job *v1.PaddleJob, wish Wish) {
	if value, set, field := minimum(job, wish); set {
		switch all := total(job); {
		case value < 1:
			n.add(ReasonInvalidMinAvailable, "%s is %d: set it to 1 or more, or leave it out to mean all pods", field, value)
		case int64(value) > all:
			n.add(ReasonInvalidMinAvailable, "%s is %d, but the job has %d pods in all: lower it, or leave it out to mean all of them",
				field, value, all)
		}
	}
	if name, field := queue(job, wish); len(validation.IsDNS1123Subdomain(name)) > 0 {
		n.add(ReasonInvalidQueue, "%s %q cannot be the name of a queue: see kubectl get queues", field, name)
	} else if name == "root" {
		n.add(ReasonInvalidQueue, "%s is root, which only holds the other queues: choose one of them", field)
	}
	if name, field := priorityClass(job, wish); name != "" && len(validation.IsDNS1123Subdomain(name)) > 0 {
		n.add(ReasonInvalidPriorityClass, "%s %q cannot be the name of a priority class: see kubectl get priorityclasses", field, name)
	}
}
