// SPDX-License-Identifier: Apache-2.0

// Package kubeflow runs Kubeflow's PaddleJobs (kubeflow.org/v1): it keeps one PaddleJob of batch.paddlepaddle.org/v1 for
// each, of the same name and owned by it, and writes from that one's status the status in Kubeflow's form. How a job is
// rendered, scheduled and ended is decided in one place for both.
//
// The conversion (convert.go), the decisions (reconcile.go) and the status (status.go) are pure; controller.go watches and writes.
package kubeflow
