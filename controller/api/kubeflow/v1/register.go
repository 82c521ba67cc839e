// SPDX-License-Identifier: Apache-2.0

package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupName is the API group of Kubeflow's jobs; PaddleJob is one of several kinds in it.
const GroupName = "kubeflow.org"

const (
	// Kind is the kind of a PaddleJob object.
	Kind = "PaddleJob"
	// Resource is the name of the kind in URLs.
	Resource = "paddlejobs"
)

// SchemeGroupVersion is the group and version of this package.
var SchemeGroupVersion = schema.GroupVersion{Group: GroupName, Version: "v1"}

var (
	schemeBuilder = runtime.NewSchemeBuilder(addKnownTypes)
	// AddToScheme adds the types of this package to a scheme.
	AddToScheme = schemeBuilder.AddToScheme
)

func addKnownTypes(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(SchemeGroupVersion, &PaddleJob{}, &PaddleJobList{})
	metav1.AddToGroupVersion(scheme, SchemeGroupVersion)
	return nil
}
