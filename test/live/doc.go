// SPDX-License-Identifier: Apache-2.0

// Package live is a sandbox with the clients and the waits that tests of live jobs need, and with the logs and metrics of its
// components. The objects to submit, and the checks of their state, are in the packages that test them.
package live
