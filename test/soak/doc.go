// SPDX-License-Identifier: Apache-2.0

// Package soak creates, deletes, changes and fails jobs of every kind at random on a sandbox for a long time. After each round it
// compares the objects with the expected ones, and checks that the memory of the programs does not grow.
//
// In each round, the seed draws operations. Then the jobs end, and their objects are compared with what is known of each job
// (check.go). Then all jobs are deleted, and no object may be left. The goroutines and the live heap of the controller and the
// scheduler are recorded (memory.go). All rounds do the same work, so that the first and the last can be compared.
package soak
