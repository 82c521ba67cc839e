// SPDX-License-Identifier: Apache-2.0

// Package kind writes the manifests that make kind-up applies: Volcano's installer, ours, kwok and the simulated nodes, made fit
// for a cluster of one real node. Its tests run the scripts of hack/kind with kind itself and a docker that only writes down what it
// is asked for. Nothing that talks to a cluster lives here.
package kind
