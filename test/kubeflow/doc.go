// SPDX-License-Identifier: Apache-2.0

// Package kubeflow holds the tests of whole PaddleJobs of Kubeflow's: the shipped controller with --kubeflow, its shipped
// rights and the shipped CRD, on a sandbox. It has no code of its own.
package kubeflow
