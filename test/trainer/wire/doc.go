// SPDX-License-Identifier: Apache-2.0

// Package wire finds a job's other processes and connects to them, patiently: a name leads nowhere until about a second
// after its container has started.
package wire
