// SPDX-License-Identifier: Apache-2.0

// Package chart draws measured numbers as SVG that stands in a page: bars with their spread, and curves. What is measured, and
// the page with its colours (Style), is the caller's. A drawing is as wide as a phone's screen, so that its text stays legible there.
package chart
