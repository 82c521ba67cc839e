// SPDX-License-Identifier: Apache-2.0

// Package times reads from the API server's audit log when pods were created, bound and running, and who asked the API
// server for what; nothing else lives here. Every time is the API server's: of a request that did something, when it was
// answered; of the request with which something began, when it arrived.
package times
