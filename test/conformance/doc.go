// SPDX-License-Identifier: Apache-2.0

// Package conformance computes the roles that Paddle's launcher and role makers read from the environment of a job's pods. It must not
// use code of this project that renders that environment.
//
// [Environment] resolves a pod's variables as the kubelet does, package rules says what one process makes of them, and
// [Gang.Check] whether all processes of a job together would train.
package conformance
