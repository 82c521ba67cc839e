// SPDX-License-Identifier: Apache-2.0

// Package drawing draws jobs into a cluster's topology, as a page, a picture or text: pure, no API calls, no clock; equal objects make equal bytes.
package drawing
