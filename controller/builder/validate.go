// SPDX-License-Identifier: Apache-2.0

package builder

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
)

// Validate returns nil for a job that can be run, and otherwise everything that stands against it, in the order of the
// fields. It looks at the objects alone: whether a queue or a claim exists is not known here.
func Validate(job *v1.PaddleJob, overrides PodGroupOverrides, cfg Config) []Cause {
	var found causes
	found.checkNames(job)
	found.checkRoles(job, cfg)
	found.checkScheduling(job, overrides)
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
func (n *causes) checkNames(job *v1.PaddleJob) {
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

func (n *causes) checkRoles(job *v1.PaddleJob, cfg Config) {
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

func (n *causes) checkScheduling(job *v1.PaddleJob, overrides PodGroupOverrides) {
	if value, set, field := minimum(job, overrides); set {
		switch all := total(job); {
		case value < 1:
			n.add(ReasonInvalidMinAvailable, "%s is %d: set it to 1 or more, or leave it out to mean all pods", field, value)
		case int64(value) > all:
			n.add(ReasonInvalidMinAvailable, "%s is %d, but the job has %d pods in all: lower it, or leave it out to mean all of them",
				field, value, all)
		}
	}
	if name, field := queue(job, overrides); len(validation.IsDNS1123Subdomain(name)) > 0 {
		n.add(ReasonInvalidQueue, "%s %q cannot be the name of a queue: see kubectl get queues", field, name)
	} else if name == "root" {
		n.add(ReasonInvalidQueue, "%s is root, which only holds the other queues: choose one of them", field)
	}
	if name, field := priorityClass(job, overrides); name != "" && len(validation.IsDNS1123Subdomain(name)) > 0 {
		n.add(ReasonInvalidPriorityClass, "%s %q cannot be the name of a priority class: see kubectl get priorityclasses", field, name)
	}
}

func (n *causes) checkNetwork(job *v1.PaddleJob, cfg Config) {
	if job.Spec.Intranet == v1.Host {
		n.checkHost(job, cfg)
	}
	if gloo := job.Spec.WithGloo; gloo != nil && (*gloo < 0 || *gloo > 2) {
		n.add(ReasonInvalidWithGloo, "spec.withGloo is %d: use 0 for none, 1 for workers, 2 for workers and servers", *gloo)
	}
}

// checkHost refuses what cannot run in the nodes' network.
func (n *causes) checkHost(job *v1.PaddleJob, cfg Config) {
	if all := hostPorts(cfg); HostPorts(job, cfg) && PortsNeeded(job) > all.Count/ports*ports {
		n.add(ReasonTooManyPods, "spec.intranet Host: %d pods need %d ports each, and the controller has ports %s in all (--host-ports): "+
			"lower replicas, or use PodIP or Service", total(job), ports, all)
	}
	for _, r := range roles(job) {
		for i := range r.spec.Template.Spec.Containers {
			container := &r.spec.Template.Spec.Containers[i]
			for _, port := range container.Ports {
				if port.HostPort != 0 && port.HostPort != port.ContainerPort {
					n.add(ReasonInvalidTemplate, "%s.template.spec.containers[%d].ports: hostPort %d is not containerPort %d, and with "+
						"intranet Host they are the same: leave hostPort out", r.field, i, port.HostPort, port.ContainerPort)
				}
			}
		}
	}
}

func hostPorts(cfg Config) Ports { return cmp.Or(cfg.HostPorts, DefaultHostPorts()) }

// HostPortsOf are the ports that jobs with intranet Host may use.
func HostPortsOf(cfg Config) Ports { return hostPorts(cfg) }

// hostNetwork puts pods on their nodes' network where intranet Host wants it, and tells what that costs.
func hostNetwork(spec *corev1.PodSpec, job *v1.PaddleJob, r role, cfg Config) causes {
	own := Intranet(job, cfg) == v1.Host
	spec.HostNetwork = spec.HostNetwork || own
	if !spec.HostNetwork {
		return nil
	}
	if spec.DNSPolicy == "" {
		// What Volcano's webhook writes; without it such pods do not resolve each other's names.
		spec.DNSPolicy = corev1.DNSClusterFirstWithHostNet
	}
	var warnings causes
	switch {
	case Mode(job) == v1.ModeSingle, apart(spec), own && Elastic(job):
	case !own:
		warnings.add(ReasonHostNetwork, "%s.template.spec.hostNetwork: pods on one node share its address and the ports from %d on, "+
			"so two pods of PaddleJobs on one node cannot train: use spec.intranet: Host, which gives each pod ports of its own, keep "+
			"them apart with podAntiAffinity, or leave hostNetwork out", r.field, firstPort)
	case Mode(job) == v1.ModePS && r.name == RolePS:
		warnings.add(ReasonHostNetwork, "spec.intranet Host: pods of this job that share a node have its address and ports of their own, "+
			"which python train.py can work with; python -m paddle.distributed.launch starts all that has its node's address, so for "+
			"it keep the pods apart with podAntiAffinity, or use PodIP or Service")
	case Mode(job) == v1.ModeCollective && r.replicas() > 1:
		warnings.add(ReasonHostNetwork, "spec.intranet Host: Paddle's launcher counts nodes by their addresses, so two workers of this job "+
			"on one node are one to it, and training does not begin as it should: let a worker take the whole node, or keep workers "+
			"apart with podAntiAffinity; launchers before 2.3 use ports 6170 and up, whoever has them")
	}
	return warnings
}

// apart reports whether the template keeps pods off nodes that have others: by which is the user's affair.
func apart(spec *corev1.PodSpec) bool {
	if spec.Affinity == nil || spec.Affinity.PodAntiAffinity == nil {
		return false
	}
	for _, term := range spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
		if term.TopologyKey == corev1.LabelHostname {
			return true
		}
	}
	return false
}

// checkRun checks what the user wants of the job as a whole. The CRD refuses most of it too; a job may be older than that.
func (n *causes) checkRun(job *v1.PaddleJob) {
	run := job.Spec.RunPolicy
	if run == nil {
		return
	}
	const field = "spec.runPolicy."
	if seconds := run.ActiveDeadlineSeconds; seconds != nil && *seconds < 1 {
		n.add(ReasonInvalidRunPolicy, field+"activeDeadlineSeconds is %d: set it to 1 or more, or leave it out", *seconds)
	}
	if seconds := run.TTLSecondsAfterFinished; seconds != nil && *seconds < 0 {
		n.add(ReasonInvalidRunPolicy, field+"ttlSecondsAfterFinished is %d: set it to 0 or more, or leave it out", *seconds)
	}
	if limit := run.BackoffLimit; limit != nil && *limit < 0 {
		n.add(ReasonInvalidRunPolicy, field+"backoffLimit is %d: set it to 0 for no restart, or more, or leave it out to mean 2", *limit)
	}
	switch run.RestartScope {
	case "", v1.RestartGang:
	case v1.RestartPod:
		if job.Spec.PS == nil {
			n.add(ReasonInvalidRunPolicy, field+"restartScope Pod is for workers of PS mode: others count each other once, at the "+
				"start, and cannot go on without one: use Gang, or leave it out (elastic workers always start again alone)")
		}
	default:
		n.add(ReasonInvalidRunPolicy, field+"restartScope %q does not exist: use Gang or Pod", string(run.RestartScope))
	}
	seen := sets.New[int32]()
	for _, code := range run.PermanentExitCodes {
		if code < 1 || code > 255 || seen.Has(code) {
			n.add(ReasonInvalidRunPolicy, field+"permanentExitCodes has %d: use codes from 1 to 255, each once", code)
		}
		seen.Insert(code)
	}
}
