// SPDX-License-Identifier: Apache-2.0

// Package load is what the benchmark submits: the same gangs as PaddleJobs, as Volcano Jobs and as pods with PodGroups, on
// nodes of 8 GPUs; and how they are made and removed again. Nothing is measured here.
package load
