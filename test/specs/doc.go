// SPDX-License-Identifier: Apache-2.0

// Package specs asks a real API server about what is rendered from arbitrary specs, by dry runs: whatever passes the
// controller's validation must pass the API server's and Volcano's, unless it is the user's own template that they refuse.
package specs
