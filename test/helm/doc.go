// SPDX-License-Identifier: Apache-2.0

// Package helm tests the chart of deploy/helm: what it renders, and its installation, upgrade and removal on a sandbox, with the
// permissions that it grants.
package helm
