// SPDX-License-Identifier: Apache-2.0

// Package v1 holds the API types of batch.paddlepaddle.org/v1 and nothing that acts on them.
//
// The group, the kinds and every spec field are those of paddle-operator v0.3.5, so that manifests written for it are
// accepted unchanged.
//
// +groupName=batch.paddlepaddle.org
// +kubebuilder:object:generate=true
package v1
