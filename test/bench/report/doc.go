// SPDX-License-Identifier: Apache-2.0

// Package report puts everything that the benchmarks wrote into one page that needs nothing else: what was asked for and
// reached, figures, machine, settings, and what has changed since an earlier report. It measures nothing.
package report
