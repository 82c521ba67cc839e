// SPDX-License-Identifier: Apache-2.0

// Package elastic trains with nodes that come and go: they register in etcd, the oldest of them plans rounds, and each
// round is a ring that goes on from the last checkpoint.
//
// etcd is talked to over its JSON gateway, which every etcd of version 3 serves, so that no client library is needed.
package elastic
