// SPDX-License-Identifier: Apache-2.0

// Package profile fetches processor profiles of a component that serves pprof, and tells which package had the time; when
// and for how long it is asked is the benchmark's business.
package profile
