// SPDX-License-Identifier: Apache-2.0

// Package conformance works out what Paddle's launcher and role makers conclude from the environment of a job's pods; nothing of this project's own rendering may be used to do so.
//
// [Environment] resolves a pod's variables as the kubelet does, package rules says what one process makes of them, and
// [Gang.Check] whether all processes of a job together would train.
package conformance
