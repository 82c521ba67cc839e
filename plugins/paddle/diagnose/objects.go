// SPDX-License-Identifier: Apache-2.0

package diagnose

import (
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/component-helpers/storage/volume"
	"volcano.sh/volcano/pkg/scheduler/framework"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
)

// Objects reads the objects that pods name. A function may be nil.
type Objects struct {
	Claim         func(namespace, name string) (*corev1.PersistentVolumeClaim, error)
	Class         func(name string) (*storagev1.StorageClass, error)
	ResourceClaim func(namespace, name string) error
}

// ObjectsOf returns the objects in the informers of a session, which predicates read.
func ObjectsOf(ssn *framework.Session) Objects {
	var o Objects
	if factory := ssn.InformerFactory(); factory != nil {
		claims, classes := factory.Core().V1().PersistentVolumeClaims().Lister(), factory.Storage().V1().StorageClasses().Lister()
		o.Claim = func(namespace, name string) (*corev1.PersistentVolumeClaim, error) {
			return claims.PersistentVolumeClaims(namespace).Get(name)
		}
		o.Class = func(name string) (*storagev1.StorageClass, error) { return classes.Get(name) }
	}
	if manager := ssn.SharedDRAManager(); manager != nil {
		o.ResourceClaim = func(namespace, name string) error {
			_, err := manager.ResourceClaims().Get(namespace, name)
			return err
		}
	}
	return o
}

// missing returns what is wrong with an object that a pod names, so that no node is feasible; false if nothing is.
func (o Objects) missing(pod *corev1.Pod) (r report.Report, found bool) {
	missing := func(reason report.Reason, suggestion report.Suggestion, objects ...report.Object) (report.Report, bool) {
		return report.Report{
			Reason: reason, Missing: &report.Missing{Objects: objects}, Suggestions: []report.Suggestion{suggestion},
		}, true
	}
	for i := range pod.Spec.Volumes {
		source := pod.Spec.Volumes[i].PersistentVolumeClaim
		if source == nil || o.Claim == nil {
			continue
		}
		object := report.Object{Kind: "PersistentVolumeClaim", Name: source.ClaimName}
		claim, err := o.Claim(pod.Namespace, source.ClaimName)
		if apierrors.IsNotFound(err) {
			return missing(report.PersistentVolumeClaimNotFound, report.Suggest(report.CreateObject, object.String()), object)
		}
		if err != nil || claim.Spec.VolumeName != "" {
			continue
		}
		name := volume.GetPersistentVolumeClaimClass(claim)
		if name == "" || o.Class == nil {
			return missing(report.PersistentVolumeClaimUnbound, report.Suggest(report.BindClaim, claim.Name), object)
		}
		class, err := o.Class(name)
		if apierrors.IsNotFound(err) {
			kind := report.Object{Kind: "StorageClass", Name: name}
			r, found = missing(report.StorageClassNotFound, report.Suggest(report.CreateObject, kind.String()), kind, object)
			r.Value = name
			return r, found
		}
		if err == nil && (class.VolumeBindingMode == nil || *class.VolumeBindingMode == storagev1.VolumeBindingImmediate) {
			return missing(report.PersistentVolumeClaimUnbound, report.Suggest(report.BindClaim, claim.Name), object)
		}
	}
	for i := range pod.Spec.ResourceClaims {
		object := report.Object{Kind: "ResourceClaim", Name: resourceClaimOf(pod, &pod.Spec.ResourceClaims[i])}
		if object.Name == "" {
			object = report.Object{Kind: "ResourceClaim of template", Name: *pod.Spec.ResourceClaims[i].ResourceClaimTemplateName}
		} else if o.ResourceClaim == nil || o.ResourceClaim(pod.Namespace, object.Name) == nil {
			continue
		}
		return missing(report.ResourceClaimNotFound, report.Suggest(report.CreateObject, object.String()), object)
	}
	return r, false
}

// resourceClaimOf returns the name of the claim that a pod uses; empty if it was not made from its template yet.
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
