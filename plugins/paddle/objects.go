// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/component-helpers/storage/volume"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
)

// objects are the objects that pods name. A function that is nil knows nothing of its kind.
type objects struct {
	claim         func(namespace, name string) (*corev1.PersistentVolumeClaim, error)
	class         func(name string) (*storagev1.StorageClass, error)
	resourceClaim func(namespace, name string) error
}

// missing is what is wrong with an object that a pod names, so that no node will do; false if nothing is.
func (o objects) missing(pod *corev1.Pod) (r report.Report, found bool) {
	missing := func(reason report.Reason, suggestion report.Suggestion, objects ...report.Object) (report.Report, bool) {
		return report.Report{
			Reason: reason, Missing: &report.Missing{Objects: objects}, Suggestions: []report.Suggestion{suggestion},
		}, true
	}
	for i := range pod.Spec.Volumes {
		source := pod.Spec.Volumes[i].PersistentVolumeClaim
		if source == nil || o.claim == nil {
			continue
		}
		object := report.Object{Kind: "PersistentVolumeClaim", Name: source.ClaimName}
		claim, err := o.claim(pod.Namespace, source.ClaimName)
		if apierrors.IsNotFound(err) {
			return missing(report.PersistentVolumeClaimNotFound, report.Suggest(report.CreateObject, object.String()), object)
		}
		if err != nil || claim.Spec.VolumeName != "" {
			continue
		}
		name := volume.GetPersistentVolumeClaimClass(claim)
		if name == "" || o.class == nil {
			return missing(report.PersistentVolumeClaimUnbound, report.Suggest(report.BindClaim, claim.Name), object)
		}
		class, err := o.class(name)
		if apierrors.IsNotFound(err) {
			kind := report.Object{Kind: "StorageClass", Name: name}
			return missing(report.StorageClassNotFound, report.Suggest(report.CreateObject, kind.String()), kind, object)
		}
		if err == nil && (class.VolumeBindingMode == nil || *class.VolumeBindingMode == storagev1.VolumeBindingImmediate) {
			return missing(report.PersistentVolumeClaimUnbound, report.Suggest(report.BindClaim, claim.Name), object)
		}
	}
	for i := range pod.Spec.ResourceClaims {
		object := report.Object{Kind: "ResourceClaim", Name: resourceClaimOf(pod, &pod.Spec.ResourceClaims[i])}
		if object.Name == "" {
			object = report.Object{Kind: "ResourceClaim of template", Name: *pod.Spec.ResourceClaims[i].ResourceClaimTemplateName}
		} else if o.resourceClaim == nil || o.resourceClaim(pod.Namespace, object.Name) == nil {
			continue
		}
		return missing(report.ResourceClaimNotFound, report.Suggest(report.CreateObject, object.String()), object)
	}
	return r, false
}

// resourceClaimOf is the name of the claim that a pod uses; empty if it was not made from its template yet.
func resourceClaimOf(pod *corev1.Pod, claim *corev1.PodResourceClaim) string {
	if claim.ResourceClaimName != nil {
		return *claim.ResourceClaimName
	}
	for _, made := range pod.Status.ResourceClaimStatuses {
		if made.Name == claim.Name && made.ResourceClaimName != nil {
			return *made.ResourceClaimName
		}
	}
	return ""
}
