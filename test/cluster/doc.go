// SPDX-License-Identifier: Apache-2.0

// Package cluster tests on one sandbox, which all tests share. It tests kubectl paddle, the jobs of Kubeflow's API, the environment of
// jobs that run (test/conformance), and that the API server accepts what is rendered from arbitrary specs. Each test has its own
// namespace.
package cluster
