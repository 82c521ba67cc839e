// SPDX-License-Identifier: Apache-2.0

// Package real holds the tests of the sandbox's real node: `make test-real` runs them. It has no code of its own.
package real
