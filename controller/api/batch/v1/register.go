// SPDX-License-Identifier: Apache-2.0

package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupName is the API group of PaddleJob.
const GroupName = "batch.paddlepaddle.org"

// Kind is the kind of a PaddleJob object.
const Kind = "PaddleJob"

// ManagedByController is the value of spec.managedBy that means this project's controller.
const ManagedByController = GroupName + "/paddlejob-controller"

// SchemeGroupVersion is the group and version of this package.
var SchemeGroupVersion = schema.GroupVersion{Group: GroupName, Version: "v1"}

var (
	schemeBuilder = runtime.NewSchemeBuilder(addKnownTypes)
	// AddToScheme adds the types of this package to a scheme.
	AddToScheme = schemeBuilder.AddToScheme
)

// Resource qualifies a resource name with this package's group.
func Resource(resource string) schema.GroupResource {
	return SchemeGroupVersion.WithResource(resource).GroupResource()
}

func addKnownTypes(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(SchemeGroupVersion, &PaddleJob{}, &PaddleJobList{})
	metav1.AddToGroupVersion(scheme, SchemeGroupVersion)
	return nil
}
