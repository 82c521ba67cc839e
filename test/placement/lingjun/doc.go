// SPDX-License-Identifier: Apache-2.0

// Package lingjun holds the topology of a production GPU cluster, 847 hosts in a three-layer Clos network, and its reader.
//
// README.md says where the data comes from and what is assumed beyond it. Nothing is planned here but in tests.
package lingjun
