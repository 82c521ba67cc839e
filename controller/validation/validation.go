// SPDX-License-Identifier: Apache-2.0

// Package validation finds what is wrong with a PaddleJob that neither the schema nor the CEL rules of its CRD can express: what
// depends on the controller's flags, on the user's own PodGroup, or on the contents of pod templates. It repeats those of their rules
// that a job stored before them must not break. It reads no API.
package validation

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
)

// Validate returns what keeps a job from being run. The job is one that the API server has accepted, by this CRD or an earlier one.
func Validate(job *v1.PaddleJob, overrides builder.PodGroupOverrides, cfg builder.Config) field.ErrorList {
	spec := field.NewPath("spec")
	errs := validateStored(job, spec)
	errs = append(errs, validateRoles(job, cfg, spec)...)
	errs = append(errs, validateGang(job, overrides, spec)...)
	errs = append(errs, validateSchedulingPolicy(job.Spec.SchedulingPolicy, spec.Child("schedulingPolicy"))...)
	errs = append(errs, validateDegrees(job, job.Spec.Parallelism, spec.Child("parallelism"))...)
	errs = append(errs, validateElastic(job, cfg, spec)...)
	errs = append(errs, validateSampleSet(job, spec)...)
	for _, r := range builder.Roles(job) {
		errs = append(errs, validateTemplate(job, &r.Spec.Template, cfg, pathOf(r).Child("template"))...)
	}
	return errs
}

// Messages returns the errors as texts for a user.
func Messages(errs field.ErrorList) string {
	texts := make([]string, 0, len(errs))
	for _, err := range errs {
		texts = append(texts, err.Error())
	}
	return strings.Join(texts, "; ")
}

// pathOf is the field of a role.
func pathOf(r builder.Role) *field.Path { return field.NewPath("spec", r.Name) }

// validateRoles checks that the lists of the pods' addresses fit into environment variables, and their ports into the nodes'.
func validateRoles(job *v1.PaddleJob, cfg builder.Config, spec *field.Path) (errs field.ErrorList) {
	for _, r := range builder.Roles(job) {
		if most := builder.MaxPods(job, r.Name, cfg); int(r.Spec.Replicas) > most {
			errs = append(errs, field.Invalid(pathOf(r).Child("replicas"), r.Spec.Replicas, fmt.Sprintf(
				"the addresses of at most %d pods fit into one environment variable: lower it, or shorten metadata.name", most)))
		}
	}
	if ports := builder.HostPortsOf(cfg); builder.HostPorts(job, cfg) && builder.PortsNeeded(job) > ports.Usable() {
		errs = append(errs, field.Invalid(spec.Child("intranet"), job.Spec.Intranet, fmt.Sprintf(
			"the pods need %d ports, and the controller has ports %s in all (--host-ports): lower replicas, or use PodIP or Service",
			builder.PortsNeeded(job), ports)))
	}
	return errs
}

// validateGang checks the minimum and the queue of a gang, which the spec, a PodGroup of the user's own or the namespace sets.
func validateGang(job *v1.PaddleJob, overrides builder.PodGroupOverrides, spec *field.Path) (errs field.ErrorList) {
	path, least, set := field.NewPath("podGroup").Key(job.Name).Child("spec", "minMember"), overrides.MinMember, overrides.MinMember != 0
	if policy := job.Spec.SchedulingPolicy; policy != nil && policy.MinAvailable != nil {
		path, least, set = spec.Child("schedulingPolicy", "minAvailable"), *policy.MinAvailable, true
	}
	total := builder.Total(job)
	if set && (least < 1 || int64(least) > total) {
		errs = append(errs, field.Invalid(path, least, fmt.Sprintf(
			"the job has %d pods in all: set spec.schedulingPolicy.minAvailable to 1 to %d", total, total)))
	}
	if queue := builder.Queue(job, overrides); queue == "root" {
		errs = append(errs, field.Invalid(spec.Child("schedulingPolicy", "queue"), queue, "it only holds the other queues: set it to one of them"))
	}
	return errs
}

// maxParameterSize is the largest model that the scheduler's plugin reckons with.
var maxParameterSize = resource.MustParse("1Pi")

// validateSchedulingPolicy checks quantities, which CEL cannot compare before Kubernetes 1.29.
func validateSchedulingPolicy(policy *v1.SchedulingPolicy, path *field.Path) (errs field.ErrorList) {
	if policy == nil {
		return nil
	}
	if size := policy.ParameterSize; size != nil && (size.Sign() <= 0 || size.Cmp(maxParameterSize) > 0) {
		errs = append(errs, field.Invalid(path.Child("parameterSize"), size.String(),
			"set it to the bytes of the model's parameters, such as 2Gi, at most "+maxParameterSize.String()+", or leave it out"))
	}
	for _, name := range slices.Sorted(maps.Keys(policy.MinResources)) {
		if quantity := policy.MinResources[name]; quantity.Sign() < 0 {
			errs = append(errs, field.Invalid(path.Child("minResources").Key(string(name)), quantity.String(), "it is negative: leave it out"))
		}
	}
	return errs
}

// accelerators are the resources that a rank has one of.
var accelerators = []corev1.ResourceName{
	"nvidia.com/gpu", "amd.com/gpu", "kunlunxin.com/xpu", "huawei.com/Ascend910", "cambricon.com/mlu", "hygon.com/dcu",
}

// workerGPUs returns how many GPUs the workers' containers name in all.
func workerGPUs(job *v1.PaddleJob) (gpus int64) {
	if job.Spec.Worker == nil {
		return 0
	}
	for i := range job.Spec.Worker.Template.Spec.Containers {
		for _, name := range accelerators {
			quantity := job.Spec.Worker.Template.Spec.Containers[i].Resources.Limits[name]
			gpus += int64(job.Spec.Worker.Replicas) * quantity.Value()
		}
	}
	return gpus
}

// validateDegrees checks that the degrees multiply to the number of GPUs, where the workers' containers name them. How many
// elastic workers there are may change: they have data parallel ranks as far as they go.
func validateDegrees(job *v1.PaddleJob, p *v1.Parallelism, path *field.Path) field.ErrorList {
	if p == nil {
		return nil
	}
	gpus := workerGPUs(job)
	degrees, product := []int32{p.Pipeline, p.Sharding, p.Sep, p.Tensor}, int64(1)
	if !builder.Elastic(job) {
		degrees = append(degrees, p.Data)
	}
	for _, degree := range degrees {
		if product <= gpus { // the product of all may be beyond an int64
			product *= int64(max(1, degree))
		}
	}
	switch exact := p.Data > 0 && !builder.Elastic(job); {
	case gpus == 0 || product == gpus || !exact && gpus%product == 0:
		return nil
	case exact:
		return field.ErrorList{field.Invalid(path, builder.Degrees(p), fmt.Sprintf(
			"data, pipeline, sharding, sep and tensor do not multiply to the %d GPUs of the workers: correct a degree, or leave data out", gpus))}
	default:
		return field.ErrorList{field.Invalid(path, builder.Degrees(p), fmt.Sprintf(
			"the product of pipeline, sharding, sep and tensor does not divide the %d GPUs of the workers: correct a degree, or spec.worker", gpus))}
	}
}

// validateElastic checks the maximum of elastic workers, and that they find their etcd.
func validateElastic(job *v1.PaddleJob, cfg builder.Config, spec *field.Path) (errs field.ErrorList) {
	if !builder.Elastic(job) {
		return nil
	}
	fit := builder.MaxPods(job, builder.RoleWorker, cfg)
	if _, most := builder.Bounds(job); int(most) > fit && int(job.Spec.Worker.Replicas) <= fit {
		path := spec.Child("elasticPolicy", "maxReplicas")
		if job.Spec.Worker.Limits != nil {
			path = spec.Child("worker", "limits")
		}
		errs = append(errs, field.Invalid(path, most, fmt.Sprintf(
			"the names of at most %d pods fit into one environment variable: lower it, or shorten metadata.name", fit)))
	}
	etcd := spec.Child("elasticPolicy", "etcd")
	address, source := builder.Etcd(job, cfg)
	if address == "" {
		return append(errs, field.Required(etcd, "elastic workers find each other through an etcd: set it to its host:port"))
	}
	if problem := builder.EtcdProblem(address); problem != "" {
		errs = append(errs, field.Invalid(etcd, address, source+": "+problem))
	}
	return errs
}

// validateSampleSet checks that the claim can be mounted in container 0 of every role.
func validateSampleSet(job *v1.PaddleJob, spec *field.Path) (errs field.ErrorList) {
	ref, path := job.Spec.SampleSetRef, spec.Child("sampleSetRef")
	if ref == nil {
		return nil
	}
	if ref.Namespace != "" && ref.Namespace != job.Namespace {
		errs = append(errs, field.Invalid(path.Child("namespace"), ref.Namespace, fmt.Sprintf(
			"pods mount only claims of their own namespace, %q: create the job there, or a claim here", job.Namespace)))
	}
	for _, r := range builder.Roles(job) {
		pod := &r.Spec.Template.Spec
		for i := range pod.Volumes {
			if pod.Volumes[i].Name == builder.SampleVolume {
				errs = append(errs, field.Invalid(pathOf(r).Child("template", "spec", "volumes").Index(i).Child("name"), builder.SampleVolume,
					"it is the name of the sample set's volume: choose another"))
			}
		}
		if len(pod.Containers) > 0 && slices.ContainsFunc(pod.Containers[0].VolumeMounts, func(m corev1.VolumeMount) bool {
			return m.MountPath == ref.MountPath
		}) {
			errs = append(errs, field.Invalid(path.Child("mountPath"), ref.MountPath, fmt.Sprintf(
				"a volume mount of %s has it: choose another path", pathOf(r).Child("template", "spec", "containers").Index(0))))
		}
	}
	return errs
}
