// SPDX-License-Identifier: Apache-2.0

// Package timeline watches one job on a live control plane, reads the logs of its pods, and reports when each step towards its first training step was done, and what the start barrier took of that time.
//
// Objects of Kubernetes have times in whole seconds. A stamp is therefore the time at which this process received the change by a watch, a few milliseconds late. Lines of logs have the time that the container runtime gave them.
package timeline
