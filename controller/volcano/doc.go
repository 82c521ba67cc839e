// SPDX-License-Identifier: Apache-2.0

// Package volcano holds what the controller knows of Volcano's Job controller: names, phases, commands, and the observations
// that its workarounds rest on. The workarounds were written for v1.14.1:
//
//   - Deletion: a Volcano Job that is created while Volcano still removes an earlier one of its name from its cache never
//     gets pods (volcano-sh/volcano#5973). Removable with the first release that has pull request 5773.
//   - The RestartPod action deletes the gang's PodGroup (volcano-sh/volcano#5385). The builder does not use it. Removable with
//     the first release after v1.14.1, which has pull request 5342.
//   - Volcano counts evictions as failures (volcano-sh/volcano#2560). The builder sets maxRetry so high that it never counts, and
//     paddlejob/lifecycle counts failures instead.
//   - The command SyncJob for an admitted gang without pods: the Job controller handles no addition of a PodGroup, and misses one that
//     it first sees admitted (volcano-sh/volcano#5325). Removable with the first release in which that issue is closed.
//   - Volcano fails a Job of which all pods have failed before it asks what a failure is followed by (volcano-sh/volcano#3967).
//     observed.State.NeedsRecreation has the Volcano Job created again. Removable with the first release in which that issue is closed.
//   - The command CompleteJob: Volcano ends a job only when it sees the last worker succeed, and misses that
//     while it restarts. No upstream issue is known.
//   - Commands: Volcano reads commands about a Job that it does not know, and does nothing. No upstream issue is known.
//   - StaleCommandPeriod and SentCommand: Volcano applies a command to the Job of the target's name, whatever its uid (processNextCommand in
//     volcano/pkg/controllers/job/job_controller_handler.go). A command that waits in Volcano's queue until the Job is replaced ends
//     the new one. No upstream issue is known.
//   - PodCreateError: why the API server refuses pods is only in an event, as the Go syntax of errors. No upstream issue is known.
package volcano
