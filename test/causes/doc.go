// SPDX-License-Identifier: Apache-2.0

// Package causes drives every cause for which the scheduler leaves a job waiting, on a sandbox: the job waits, kubectl paddle
// why and kubectl describe name the reason, and once the remedy is followed the job runs.
package causes
