// SPDX-License-Identifier: Apache-2.0

// Package live judges the environment of jobs that run on a sandbox, from nothing but what its API server holds; it has tests only.
package live
