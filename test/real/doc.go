// SPDX-License-Identifier: Apache-2.0

// Package real has the end-to-end tests whose pods really run and train: the trainer (test/trainer) on the sandbox's real node, with
// paddlejob-controller and paddle-scheduler. `make test-real` runs them. Tests of the node itself, and of what a sandbox leaves on the
// machine, are here too.
package real
