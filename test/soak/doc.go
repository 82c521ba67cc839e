// SPDX-License-Identifier: Apache-2.0

// Package soak lets jobs of every kind come, go, fail and change at random on a sandbox for a long time, and looks in between
// whether what is there is what should be, and whether the programs grow.
//
// It goes in rounds. In each, operations are drawn by the seed; then the jobs are let end, and what is left is compared with
// what is known of each job (verdict.go); then all are deleted, nothing may be left, and the goroutines and the live heap of
// the controller and the scheduler are noted (memory.go). All rounds do the same work, so that the first and the last can be
// compared.
package soak
