// SPDX-License-Identifier: Apache-2.0

// Package timeline watches the pods of one job on a live control plane, reads their logs, and reports when their
// containers ran, and what the start barrier took of that time.
//
// Objects of Kubernetes have times in whole seconds. A stamp is therefore the time at which this process received the change by a watch, a few milliseconds late. Lines of logs have the time that the container runtime gave them.
package timeline
