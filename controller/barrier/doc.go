// SPDX-License-Identifier: Apache-2.0

// Package barrier keeps a pod's containers from starting before the pods of its job can find each other, and when the
// addresses that it was given are not theirs any more. The program paddle-barrier, which runs it as the pod's first init
// container, is small because the package rests on the standard library alone.
package barrier
