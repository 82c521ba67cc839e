// SPDX-License-Identifier: Apache-2.0

// Package snapshot holds what a scheduler sees of a cluster as one value and one file: what is kept of each object is named here, and nothing else gets in. No API calls, no clock.
package snapshot
