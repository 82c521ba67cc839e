// SPDX-License-Identifier: Apache-2.0

// Package vcjob runs Volcano's own Job controller in the test's process, over API clients that keep their objects in memory; it adds no behaviour to it.
//
// Tests learn from it what pods, Services and PodGroups Volcano makes of a Volcano Job, at a cost of milliseconds. There
// is no API server: nothing is defaulted, validated or mutated by webhooks, and no pod ever runs.
package vcjob
