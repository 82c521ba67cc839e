// SPDX-License-Identifier: Apache-2.0

package builder

import (
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/barrier"
)

// barrierName is the init container's, unless the user has one of that name.
const barrierName = "paddle-barrier"

// peerLists are the variables of the ConfigMap that list the endpoints of each role.
var peerLists = map[string]string{RolePS: allServers, RoleWorker: allTrainers, RoleHeter: allHeter}

// addBarrier adds the init container after which the pod's peers can be found, before all others: the user's may look for
// peers too. Elastic workers have no list of each other, and a single pod has no peers.
func addBarrier(spec *corev1.PodSpec, job *v1.PaddleJob, r Role, least map[string]int32, cfg Config) {
	if cfg.BarrierImage == "" || ElasticSet(job) || Total(job) < 2 {
		return
	}
	options := barrier.Options{Own: peerLists[r.Name], Timeout: cfg.BarrierTimeout}
	for _, one := range Roles(job) {
		awaited := int(least[one.Name]) // those that the gang starts with
		if one.Name == RoleWorker && restartsPods(job) {
			awaited = 0 // the others may have finished when one is started again alone, and names end with their pods
		}
		options.Peers = append(options.Peers, barrier.List{Variable: peerLists[one.Name], Least: awaited})
	}
	spec.InitContainers = slices.Insert(spec.InitContainers, 0, corev1.Container{
		Name:  freeName(spec),
		Image: cfg.BarrierImage,
		Args:  options.Arguments(),
		EnvFrom: []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: job.Name},
		}}},
		Env: []corev1.EnvVar{
			fromField(barrier.IndexVariable, indexPath),
			fromField(barrier.IPsVariable, "status.podIPs"),
		},
		Resources: barrierResources(spec),
		// What it says last is then in the pod's status.
		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
		SecurityContext:          barrierSecurity(spec),
	})
	for _, name := range cfg.BarrierPullSecrets {
		if secret := (corev1.LocalObjectReference{Name: name}); !slices.Contains(spec.ImagePullSecrets, secret) {
			spec.ImagePullSecrets = append(spec.ImagePullSecrets, secret)
		}
	}
}

func freeName(spec *corev1.PodSpec) string {
	name := barrierName
	taken := func(c corev1.Container) bool { return c.Name == name }
	for i := 2; slices.ContainsFunc(spec.InitContainers, taken) || slices.ContainsFunc(spec.Containers, taken); i++ {
		name = barrierName + "-" + strconv.Itoa(i)
	}
	return name
}

// barrierResources are requests, without which a pod is refused under a quota for them. Where all of the pod's containers
// have a limit this one has it too, equal to its request: a quota may ask for that, and a pod with guaranteed resources
// stays one. Nothing is requested where the pod as a whole does. The amounts are below what any training takes, so they
// add nothing to the pod's, which is what its largest init container, or all others together, request.
func barrierResources(spec *corev1.PodSpec) corev1.ResourceRequirements {
	own := corev1.ResourceRequirements{Requests: corev1.ResourceList{}, Limits: corev1.ResourceList{}}
	for _, amount := range []struct {
		name           corev1.ResourceName
		request, limit string
	}{
		{corev1.ResourceCPU, "10m", "100m"},
		{corev1.ResourceMemory, "16Mi", "32Mi"},
	} {
		if whole := spec.Resources; whole != nil {
			if _, requested := whole.Requests[amount.name]; requested { // its limits, too, have become requests
				continue
			}
		}
		limited := !slices.ContainsFunc(spec.Containers, func(c corev1.Container) bool {
			_, has := c.Resources.Limits[amount.name]
			return !has
		})
		request := amount.request
		if limited {
			request = amount.limit
			own.Limits[amount.name] = resource.MustParse(amount.limit)
		}
		own.Requests[amount.name] = resource.MustParse(request)
	}
	return own
}

// barrierSecurity keeps the strictest of Kubernetes' pod security standards. It names no user, because some clusters give
// each namespace its own; the image's is not root, unless the pod says that all are.
func barrierSecurity(spec *corev1.PodSpec) *corev1.SecurityContext {
	own := &corev1.SecurityContext{
		AllowPrivilegeEscalation: ptr.To(false),
		ReadOnlyRootFilesystem:   ptr.To(true),
		Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		SeccompProfile:           &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}
	if pod := spec.SecurityContext; pod == nil || pod.RunAsUser == nil {
		own.RunAsNonRoot = ptr.To(true)
	}
	return own
}
