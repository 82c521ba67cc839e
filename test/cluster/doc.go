// SPDX-License-Identifier: Apache-2.0

// Package cluster tests what needs a cluster and nothing particular of it, on one sandbox: kubectl paddle, the jobs of Kubeflow's API,
// the environment of jobs that run (test/conformance), and arbitrary specs, which the API server accepts when they are rendered. Each
// test has a namespace of its own. Nothing lives here but tests.
package cluster
