// SPDX-License-Identifier: Apache-2.0

// Package elastic trains with nodes that come and go. Nodes register in etcd. The oldest of them form a round, which trains
// until the nodes change. The next round continues from the last checkpoint.
//
// The JSON gateway of etcd needs no client library.
package elastic
