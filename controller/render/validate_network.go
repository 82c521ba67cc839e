// SPDX-License-Identifier: Apache-2.0

package render

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
)

func (n *notices) checkNetwork(job *v1.PaddleJob, cfg Config) {
	if job.Spec.Intranet == v1.Host {
		n.checkHost(job, cfg)
	}
	if gloo := job.Spec.WithGloo; gloo != nil && (*gloo < 0 || *gloo > 2) {
		n.add(ReasonInvalidWithGloo, "spec.withGloo is %d: use 0 for none, 1 for workers, 2 for workers and servers", *gloo)
	}
}

// checkHost refuses what cannot run in the nodes' network.
func (n *notices) checkHost(job *v1.PaddleJob, cfg Config) {
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
func hostNetwork(spec *corev1.PodSpec, job *v1.PaddleJob, r role, cfg Config) notices {
	own := Intranet(job, cfg) == v1.Host
	spec.HostNetwork = spec.HostNetwork || own
	if !spec.HostNetwork {
		return nil
	}
	if spec.DNSPolicy == "" {
		// What Volcano's webhook writes; without it such pods do not resolve each other's names.
		spec.DNSPolicy = corev1.DNSClusterFirstWithHostNet
	}
	var told notices
	switch {
	case Mode(job) == v1.ModeSingle, apart(spec), own && Elastic(job):
	case !own:
		told.add(ReasonHostNetwork, "%s.template.spec.hostNetwork: pods on one node share its address and the ports from %d on, "+
			"so two pods of PaddleJobs on one node cannot train: use spec.intranet: Host, which gives each pod ports of its own, keep "+
			"them apart with podAntiAffinity, or leave hostNetwork out", r.field, firstPort)
	case Mode(job) == v1.ModePS && r.name == RolePS:
		told.add(ReasonHostNetwork, "spec.intranet Host: pods of this job that share a node have its address and ports of their own, "+
			"which python train.py can work with; python -m paddle.distributed.launch starts all that has its node's address, so for "+
			"it keep the pods apart with podAntiAffinity, or use PodIP or Service")
	case Mode(job) == v1.ModeCollective && r.replicas() > 1:
		told.add(ReasonHostNetwork, "spec.intranet Host: Paddle's launcher counts nodes by their addresses, so two workers of this job "+
			"on one node are one to it, and training does not begin as it should: let a worker take the whole node, or keep workers "+
			"apart with podAntiAffinity; launchers before 2.3 use ports 6170 and up, whoever has them")
	}
	return told
}

// apart says whether the template keeps pods off nodes that have others: by which is the user's affair.
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
