// SPDX-License-Identifier: Apache-2.0

// Package store is a small store of texts over HTTP, where processes that know one endpoint find each other: Paddle's
// launchers at their master, and its trainers at gloo's.
package store
