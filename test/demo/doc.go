// SPDX-License-Identifier: Apache-2.0

// Package demo runs the documentation's jobs on a sandbox and shows them with kubectl paddle. [Run] uses simulated nodes, [RunReal] a
// real one.
package demo
