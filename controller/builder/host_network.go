// SPDX-License-Identifier: Apache-2.0

package builder

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
)

// hostNetwork puts pods on their nodes' network where intranet Host wants it, and adds warnings about that.
func hostNetwork(warnings *Causes, spec *corev1.PodSpec, job *v1.PaddleJob, r Role, cfg Config) {
	own := Intranet(job, cfg) == v1.Host
	spec.HostNetwork = spec.HostNetwork || own
	if !spec.HostNetwork {
		return
	}
	if spec.DNSPolicy == "" {
		// What Volcano's webhook writes; without it such pods do not resolve each other's names.
		spec.DNSPolicy = corev1.DNSClusterFirstWithHostNet
	}
	switch {
	case Mode(job) == v1.ModeSingle, hasNodeAntiAffinity(spec), own && Elastic(job):
	case !own:
		warnings.Add(ReasonHostNetwork, "%s.template.spec.hostNetwork: pods on one node share its address and the ports from %d on, "+
			"so two pods of PaddleJobs on one node cannot train: use spec.intranet: Host, which gives each pod ports of its own, keep "+
			"them apart with podAntiAffinity, or leave hostNetwork out", r.field(), firstPort)
	case Mode(job) == v1.ModePS && r.Name == RolePS:
		warnings.Add(ReasonHostNetwork, "spec.intranet Host: pods of this job that share a node have its address and ports of their own, "+
			"which python train.py can work with; python -m paddle.distributed.launch starts all that has its node's address, so for "+
			"it keep the pods apart with podAntiAffinity, or use PodIP or Service")
	case Mode(job) == v1.ModeCollective && r.replicas() > 1:
		warnings.Add(ReasonHostNetwork, "spec.intranet Host: Paddle's launcher counts nodes by their addresses, so two workers of this job "+
			"on one node are one to it, and training does not begin as it should. Let a worker take the whole node, or keep workers "+
			"apart with podAntiAffinity. Launchers before 2.3 use ports 6170 and up even if they are taken")
	}
}

// hasNodeAntiAffinity reports whether the template has a required anti-affinity between pods on one node. Its selector is not checked.
func hasNodeAntiAffinity(spec *corev1.PodSpec) bool {
	if spec.Affinity == nil || spec.Affinity.PodAntiAffinity == nil {
		return false
	}
	return slices.ContainsFunc(spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution, func(term corev1.PodAffinityTerm) bool {
		return term.TopologyKey == corev1.LabelHostname
	})
}
