// SPDX-License-Identifier: Apache-2.0

// Package trainer is a program that replaces PaddlePaddle in containers. It reads its environment as Paddle's role makers and
// launchers do, connects to the other processes of its job over TCP, and trains with them. It fails if any number, rank or peer is
// wrong.
//
// Package rules of test/conformance interprets the environment. No code of the controller does.
package trainer
