// SPDX-License-Identifier: Apache-2.0

package render

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
)

// checkTemplate refuses pods that could not be members of a gang, and those that the API server would refuse one by one
// after the gang's Job was accepted.
func (n *notices) checkTemplate(job *v1.PaddleJob, r role, cfg Config) {
	template := &r.spec.Template
	path := r.field + ".template"
	n.checkMembership(job, r, cfg)

	n.checkTexts(path, template)
	spec := &template.Spec
	if len(spec.Containers) == 0 {
		n.add(ReasonNoContainer, "%s.spec.containers is empty: add the container that trains", path)
	}
	if len(spec.EphemeralContainers) > 0 {
		n.add(ReasonInvalidTemplate, "%s.spec.ephemeralContainers: a template cannot have any, leave them out", path)
	}
	n.checkContainers(path+".spec", spec)
	n.checkVolumes(path+".spec", spec, job.Name)
}

// checkTexts checks labels and names of other objects.
func (n *notices) checkTexts(path string, template *corev1.PodTemplateSpec) {
	metadata, spec := field.NewPath(path, "metadata"), field.NewPath(path, "spec")
	problems := metav1validation.ValidateLabels(template.Labels, metadata.Child("labels"))
	problems = append(problems, apivalidation.ValidateAnnotations(template.Annotations, metadata.Child("annotations"))...)
	problems = append(problems, metav1validation.ValidateLabels(template.Spec.NodeSelector, spec.Child("nodeSelector"))...)
	// They come in the order of maps.
	slices.SortFunc(problems, func(a, b *field.Error) int { return strings.Compare(a.Error(), b.Error()) })
	for _, problem := range problems {
		n.add(ReasonInvalidTemplate, "%s: correct it", problem.Error())
	}
	for _, name := range []struct{ field, value string }{
		{"priorityClassName", template.Spec.PriorityClassName},
		{"serviceAccountName", template.Spec.ServiceAccountName},
	} {
		if name.value != "" && len(validation.IsDNS1123Subdomain(name.value)) > 0 {
			n.add(ReasonInvalidTemplate, "%s.spec.%s %q is no such name: use lower case letters, digits, '-' and '.'", path, name.field, name.value)
		}
	}
}

// checkMembership looks at what would take a pod out of the gang, or hide its end or its address.
func (n *notices) checkMembership(job *v1.PaddleJob, r role, cfg Config) {
	spec := &r.spec.Template.Spec
	path := r.field + ".template.spec"
	if spec.SchedulerName != "" && spec.SchedulerName != cfg.scheduler() {
		n.add(ReasonOtherScheduler, "%s.schedulerName is %q, which would place pods outside of the job's gang: use %q or leave it out",
			path, spec.SchedulerName, cfg.scheduler())
	}
	switch spec.RestartPolicy {
	case "", corev1.RestartPolicyNever, corev1.RestartPolicyAlways:
	case corev1.RestartPolicyOnFailure:
		if Mode(job) == v1.ModeCollective && !Elastic(job) {
			n.add(ReasonRestartPolicy, "%s.restartPolicy OnFailure would make a collective job hang: a container that restarts in "+
				"place is not seen as a failure, and the other workers wait for it forever; use Never, the whole gang then restarts", path)
		}
	default:
		n.add(ReasonRestartPolicy, "%s.restartPolicy %q does not exist: use Never or leave it out", path, string(spec.RestartPolicy))
	}
	if Intranet(job, cfg) != v1.Service {
		return
	}
	if spec.DNSPolicy == corev1.DNSDefault {
		n.add(ReasonDNSPolicy, "%s.dnsPolicy is Default, under which a pod does not resolve the others' names, as intranet Service "+
			"needs it to: leave it out, or use spec.intranet: PodIP", path)
	}
}
