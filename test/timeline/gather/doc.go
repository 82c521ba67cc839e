// SPDX-License-Identifier: Apache-2.0

// Package gather watches one job on a live plane, reads the logs of its pods, and collects the stamps of its timeline; what follows from them is worked out in test/timeline.
//
// Kubernetes' objects and events tell their times in whole seconds. So a stamp is the time at which this process saw the
// change by a watch, a few milliseconds late; only lines of logs bear the time that the container runtime gave them.
package gather
