// SPDX-License-Identifier: Apache-2.0

// Package story turns what a cluster holds about a PaddleJob into sentences and table rows: pure, no API calls, no clock, no output.
package story
