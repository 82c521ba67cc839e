// SPDX-License-Identifier: Apache-2.0

// Package status works out what a PaddleJob's status says, and which events its changes are worth. It is pure: what was
// seen, what was planned and the time in, a status out.
package status
