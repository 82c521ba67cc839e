// SPDX-License-Identifier: Apache-2.0

// Package limit makes again what a scheduler was seen to write, by a client that does nothing else: what no scheduler that
// writes the same can be faster than. It decides nothing about pods and measures nothing.
//
// What belongs to one object is made in its order, one after the other; objects side by side, as many as told.
package limit
