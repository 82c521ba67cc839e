// SPDX-License-Identifier: Apache-2.0

// Package v1 holds the types of Kubeflow's kubeflow.org/v1 PaddleJob and nothing that acts on them, so that manifests
// written for Kubeflow's training operator are accepted unchanged.
//
// Fields and their names are those of the training operator's release 1.9, the last that has a PaddleJob; older releases
// have fewer of them.
//
// +groupName=kubeflow.org
// +kubebuilder:object:generate=true
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
	// ResourcePaddleJobs is the name of the kind in URLs.
	ResourcePaddleJobs = "paddlejobs"
)

// SchemeGroupVersion is the group and version of this package.
var SchemeGroupVersion = schema.GroupVersion{Group: GroupName, Version: "v1"}

// Resource qualifies a resource name with this package's group.
func Resource(resource string) schema.GroupResource {
	return SchemeGroupVersion.WithResource(resource).GroupResource()
}

// AddToScheme adds the types of this package to a scheme.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(SchemeGroupVersion, &PaddleJob{}, &PaddleJobList{})
	metav1.AddToGroupVersion(scheme, SchemeGroupVersion)
	return nil
}

// JobNameLabel is the label on a converted PaddleJob and its pods with the name of Kubeflow's PaddleJob.
const JobNameLabel = "training.kubeflow.org/job-name"
