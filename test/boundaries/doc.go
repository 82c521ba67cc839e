// SPDX-License-Identifier: Apache-2.0

// Package boundaries holds the rules of the house that a compiler does not enforce, and checks this repository against them; it judges sources and never runs them.
package boundaries
