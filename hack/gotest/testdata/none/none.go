// SPDX-License-Identifier: Apache-2.0

// Package none has no tests.
package none
