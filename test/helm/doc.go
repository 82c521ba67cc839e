// SPDX-License-Identifier: Apache-2.0

// Package helm tests the chart of deploy/helm: what it renders, and what becomes of a sandbox when it is installed, changed and
// removed there, with its rights in force. Nothing but tests lives here.
package helm
