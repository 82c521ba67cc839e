// SPDX-License-Identifier: Apache-2.0

// Package model is a tiny wide-and-deep model of clicks, whose training gives the same bits however it is spread.
//
// Each rank's gradient of a step is rounded to a fixed point, so the sum over ranks is one of integers: exact, and the
// same in any order, through servers or around a ring. [Replica] trains the same steps in one process, to compare with.
package model
