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
