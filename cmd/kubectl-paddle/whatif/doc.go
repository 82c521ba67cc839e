// SPDX-License-Identifier: Apache-2.0

// Package whatif answers where a PaddleJob would go, by what a snapshot holds and what the real scheduler does with it
// (plugins/paddle/simulate). Pure: no API calls, no files, no clock; one answer at a time in a process.
package whatif
