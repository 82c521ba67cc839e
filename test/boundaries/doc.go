// SPDX-License-Identifier: Apache-2.0

// Package boundaries holds the rules of the house that neither a compiler nor a linter enforces, and checks this repository against them; it judges sources and never runs them.
package boundaries
