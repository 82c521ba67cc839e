// SPDX-License-Identifier: Apache-2.0

// Package kubectl holds the tests of kubectl paddle on a sandbox: what users type and read, with the rights that they have. It has no code of its own.
package kubectl
