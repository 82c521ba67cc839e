// SPDX-License-Identifier: Apache-2.0

// Package view is one PaddleJob with everything that belongs to it, as seen at one moment, and questions about that; it
// decides nothing, reads no API and has no clock.
package view
