// SPDX-License-Identifier: Apache-2.0

// Package faults runs PaddleJobs on a sandbox while faults are injected, and compares each scenario with an undisturbed one
// of the same kind. Both must end with the same objects and the same status, and leave nothing once the job is deleted.
//
// Each scenario has its own namespace and controller process, so that many run at a time. The controller reaches the
// API server through a proxy of this package, which sees each of its requests before the API server does: it answers instead
// of the API server, loses the answer, or kills the controller just then.
package faults
