// SPDX-License-Identifier: Apache-2.0

// Package live is a sandbox with the clients and the waits that tests of live jobs need, and what its components tell of
// themselves; nothing else lives here: no objects to submit and no judgement of what becomes of them, which belong to the
// package that tests them.
package live
