// SPDX-License-Identifier: Apache-2.0

package builder

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
)

// checkTemplate refuses pods that could not be members of a gang, and those that the API server would refuse one by one
// after the gang's Job was accepted.
func (n *causes) checkTemplate(job *v1.PaddleJob, r role, cfg Config) {
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
func (n *causes) checkTexts(path string, template *corev1.PodTemplateSpec) {
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
func (n *causes) checkMembership(job *v1.PaddleJob, r role, cfg Config) {
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

// svcPath is where Volcano's svc plugin mounts its list of hosts in every container.
const svcPath = "/etc/volcano"

// checkContainers checks what pod validation asks of containers and people get wrong.
func (n *causes) checkContainers(path string, spec *corev1.PodSpec) {
	names := sets.New[string]()
	check := func(where string, container *corev1.Container) {
		if len(validation.IsDNS1123Label(container.Name)) > 0 {
			n.add(ReasonInvalidTemplate, "%s.name %q is not the name of a container: use lower case letters, digits and '-'",
				where, container.Name)
		}
		if names.Has(container.Name) {
			n.add(ReasonInvalidTemplate, "%s.name %q is taken by another container: choose another", where, container.Name)
		}
		names.Insert(container.Name)
		if strings.TrimSpace(container.Image) == "" {
			n.add(ReasonInvalidTemplate, "%s.image is not set: name the image to run", where)
		}
		for i, variable := range container.Env {
			if len(validation.IsEnvVarName(variable.Name)) > 0 {
				n.add(ReasonInvalidTemplate, "%s.env[%d].name %q is not the name of a variable: use letters, digits, '_', '-' and '.'",
					where, i, variable.Name)
			}
		}
		n.checkResources(where+".resources", container.Resources)
	}
	for i := range spec.InitContainers {
		check(fmt.Sprintf("%s.initContainers[%d]", path, i), &spec.InitContainers[i])
	}
	for i := range spec.Containers {
		check(fmt.Sprintf("%s.containers[%d]", path, i), &spec.Containers[i])
	}
}

func (n *causes) checkResources(path string, resources corev1.ResourceRequirements) {
	for _, name := range sets.List(sets.KeySet(resources.Limits).Union(sets.KeySet(resources.Requests))) {
		request, requested := resources.Requests[name]
		limit, limited := resources.Limits[name]
		switch {
		case request.Sign() < 0 || limit.Sign() < 0:
			n.add(ReasonInvalidTemplate, "%s: %s is negative: use 0 or more", path, name)
		case requested && limited && request.Cmp(limit) > 0:
			n.add(ReasonInvalidTemplate, "%s: the request for %s, %s, is above its limit %s: lower it, or raise the limit",
				path, name, request.String(), limit.String())
		case isExtended(name) && requested && (!limited || request.Cmp(limit) != 0):
			n.add(ReasonInvalidTemplate, "%s: %s cannot be shared, so its limit must equal its request: give the limit only", path, name)
		}
	}
}

// checkVolumes checks that every mount has its volume, and that none is in the way of those that Volcano adds.
func (n *causes) checkVolumes(path string, spec *corev1.PodSpec, job string) {
	volumes := sets.New[string]()
	for i := range spec.Volumes {
		name := spec.Volumes[i].Name
		switch {
		case len(validation.IsDNS1123Label(name)) > 0:
			n.add(ReasonInvalidTemplate, "%s.volumes[%d].name %q is not the name of a volume: use lower case letters, digits and '-'",
				path, i, name)
		case volumes.Has(name) || name == job+"-svc":
			n.add(ReasonInvalidTemplate, "%s.volumes[%d].name %q is taken by another volume: choose another", path, i, name)
		}
		volumes.Insert(name)
	}
	for _, list := range []struct {
		field      string
		containers []corev1.Container
	}{{"initContainers", spec.InitContainers}, {"containers", spec.Containers}} {
		for i := range list.containers {
			n.checkMounts(fmt.Sprintf("%s.%s[%d].volumeMounts", path, list.field, i), list.containers[i].VolumeMounts, volumes)
		}
	}
}

func (n *causes) checkMounts(path string, mounts []corev1.VolumeMount, volumes sets.Set[string]) {
	paths := sets.New(svcPath)
	for i := range mounts {
		if !volumes.Has(mounts[i].Name) {
			n.add(ReasonInvalidTemplate, "%s[%d].name %q is not among the template's volumes: add the volume, or correct the name",
				path, i, mounts[i].Name)
		}
		switch at := mounts[i].MountPath; {
		case at == "":
			n.add(ReasonInvalidTemplate, "%s[%d].mountPath is not set: say where %s is mounted", path, i, mounts[i].Name)
		case paths.Has(at):
			n.add(ReasonInvalidTemplate, "%s[%d].mountPath %q is taken by another mount: choose another", path, i, at)
		default:
			paths.Insert(at)
		}
	}
}
