// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
)

// validateStored repeats rules of the CRD about fields that paddle-operator's CRD has too. Their breach would make pods that cannot
// be created, a training that hangs, or another one than the spec describes. A job that was stored before is not created again.
func validateStored(job *v1.PaddleJob, spec *field.Path) (errs field.ErrorList) {
	errs = append(errs, validateName(job)...)
	if job.Spec.Worker == nil {
		errs = append(errs, field.Required(spec.Child("worker"), "set it; parameter servers do not train by themselves"))
	}
	if job.Spec.Heter != nil && job.Spec.PS == nil {
		errs = append(errs, field.Required(spec.Child("ps"), "heterogeneous workers train with parameter servers: set it too, or make them spec.worker"))
	}
	if gloo := job.Spec.WithGloo; gloo != nil && (*gloo < 0 || *gloo > 2) {
		errs = append(errs, field.Invalid(spec.Child("withGloo"), *gloo, "use 0 for none, 1 for workers, 2 for workers and servers"))
	}
	errs = append(errs, validateBounds(job, spec)...)
	errs = append(errs, validateClaim(job.Spec.SampleSetRef, spec.Child("sampleSetRef"))...)
	for _, r := range builder.Roles(job) {
		errs = append(errs, validateRole(job, r)...)
	}
	return errs
}

// validateName checks that the job's Service and the hosts of its pods can have their names.
func validateName(job *v1.PaddleJob) (errs field.ErrorList) {
	path := field.NewPath("metadata", "name")
	if len(validation.IsDNS1035Label(job.Name)) > 0 {
		errs = append(errs, field.Invalid(path, job.Name, "it cannot be the name of the job's Service: use at most 63 lower case letters, "+
			"digits and '-', beginning with a letter and not ending with '-'"))
	}
	for _, r := range builder.Roles(job) {
		last := fmt.Sprintf("%s-%s-%d", job.Name, r.Name, max(r.Spec.Replicas, 1)-1)
		if len(last) > validation.DNS1123LabelMaxLength {
			errs = append(errs, field.Invalid(path, job.Name, fmt.Sprintf("the name of the pod %s must fit into the %d characters of a host name: shorten it",
				last, validation.DNS1123LabelMaxLength)))
		}
	}
	return errs
}

// validateBounds checks the roles and the bounds of an elastic job.
func validateBounds(job *v1.PaddleJob, spec *field.Path) field.ErrorList {
	if builder.ElasticSet(job) && (job.Spec.PS != nil || job.Spec.Heter != nil) {
		return field.ErrorList{field.Forbidden(spec.Child("elasticPolicy"), "it is for workers that train without servers: leave minReplicas, "+
			"maxReplicas and spec.elastic out, or leave spec.ps and spec.heter out")}
	}
	if !builder.Elastic(job) {
		return nil
	}
	least, most := builder.Bounds(job)
	if workers := job.Spec.Worker.Replicas; least < 1 || workers < least || workers > most {
		return field.ErrorList{field.Invalid(spec.Child("worker", "replicas"), workers, fmt.Sprintf(
			"the job is elastic between %d and %d workers: the minimum must be 1 or more, and this between them", least, most))}
	}
	return nil
}

// validateClaim checks that a pod can name and mount the claim of a sample set, a field of paddle-operator's branch with sample sets.
func validateClaim(ref *v1.SampleSetRef, path *field.Path) (errs field.ErrorList) {
	if ref == nil {
		return nil
	}
	if len(validation.IsDNS1123Subdomain(ref.Name)) > 0 {
		errs = append(errs, field.Invalid(path.Child("name"), ref.Name, "it is not the name of a PersistentVolumeClaim: set it to one of the job's namespace"))
	}
	if ref.MountPath == "" || strings.Contains(ref.MountPath, ":") {
		errs = append(errs, field.Invalid(path.Child("mountPath"), ref.MountPath, "it cannot be mounted: set it to a path without a colon"))
	}
	return errs
}

// validateRole checks that a role has pods, that the API server accepts them, and that none restarts where its peers wait for it.
func validateRole(job *v1.PaddleJob, r builder.Role) (errs field.ErrorList) {
	if r.Spec.Replicas < 1 {
		errs = append(errs, field.Invalid(pathOf(r).Child("replicas"), r.Spec.Replicas, "set it to 1 or more"))
	}
	pod, spec := &r.Spec.Template.Spec, pathOf(r).Child("template", "spec")
	if len(pod.Containers) == 0 {
		errs = append(errs, field.Required(spec.Child("containers"), "add the container that trains"))
	}
	if len(pod.EphemeralContainers) > 0 {
		errs = append(errs, field.Forbidden(spec.Child("ephemeralContainers"), "they cannot be in a template: leave them out"))
	}
	switch policy := pod.RestartPolicy; policy {
	case "", corev1.RestartPolicyAlways, corev1.RestartPolicyNever:
	case corev1.RestartPolicyOnFailure:
		if builder.Mode(job) == v1.ModeCollective && !builder.Elastic(job) {
			errs = append(errs, field.Invalid(spec.Child("restartPolicy"), policy, "a collective job would hang, because the other workers do not see "+
				"that a container restarts in place: use Never, the whole job then restarts"))
		}
	default:
		errs = append(errs, field.Invalid(spec.Child("restartPolicy"), policy, "it does not exist: use Never, or leave it out"))
	}
	return errs
}
