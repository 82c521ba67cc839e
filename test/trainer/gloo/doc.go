// SPDX-License-Identifier: Apache-2.0

// Package gloo is what gloo does for trainers with servers: those of a group find each other through the first server's
// HTTP store, connect each to each, and wait for each other.
package gloo
