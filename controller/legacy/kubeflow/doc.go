// SPDX-License-Identifier: Apache-2.0

// Package kubeflow runs Kubeflow's PaddleJobs (kubeflow.org/v1): it keeps one PaddleJob of batch.paddlepaddle.org/v1 for
// each, of the same name and owned by it, and writes from that one's status the status in Kubeflow's form. How a job is
// rendered, scheduled and ended is decided in one place for both.
//
// Conversion (convert.go, roles.go, template.go, env.go, policies.go), decisions (decide.go) and the status (status.go,
// conditions.go, events.go) are pure; controller.go and sync.go watch and write.
package kubeflow
