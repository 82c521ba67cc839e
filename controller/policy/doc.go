// SPDX-License-Identifier: Apache-2.0

// Package policy decides what has to be done for one PaddleJob, one file per policy. It is pure: a view in, a plan out;
// no API calls, no clock, no events.
package policy
