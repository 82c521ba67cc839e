// SPDX-License-Identifier: Apache-2.0

// Package timeline works out from stamps how long a job took from its creation to its first training step, and where that time went, as spans, a table and a drawing; it is pure, and [github.com/paddle-volcano/paddle-volcano/test/timeline/gather] collects the stamps.
package timeline
