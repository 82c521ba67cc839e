// SPDX-License-Identifier: Apache-2.0

// Package image packs the trainer as an OCI archive, which `ctr images import` takes: one layer, no registry, no Docker,
// and the same bytes each time.
package image
