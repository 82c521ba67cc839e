// SPDX-License-Identifier: Apache-2.0

// Package trainer is a program that stands in for PaddlePaddle in containers: it reads its environment as Paddle's role
// makers and launchers do, finds the other processes of its job over TCP, trains with them, and fails where any number,
// rank or peer is wrong.
//
// What the environment means is taken from package rules of test/conformance, and from nothing of the controller's.
package trainer
