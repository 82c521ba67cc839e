// SPDX-License-Identifier: Apache-2.0

// Package manifest reads PaddleJobs from text, strictly, and says what was meant where something is not known; it knows no API server.
package manifest
