// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
)

// svcPath is where Volcano's svc plugin mounts its list of hosts in every container.
const svcPath = "/etc/volcano"

// checkContainers checks what pod validation asks of containers and people get wrong.
func (n *notices) checkContainers(path string, spec *corev1.PodSpec) {
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

func (n *notices) checkResources(path string, resources corev1.ResourceRequirements) {
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
func (n *notices) checkVolumes(path string, spec *corev1.PodSpec, job string) {
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

func (n *notices) checkMounts(path string, mounts []corev1.VolumeMount, volumes sets.Set[string]) {
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
