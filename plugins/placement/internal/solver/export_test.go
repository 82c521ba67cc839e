// SPDX-License-Identifier: Apache-2.0

package solver

// WithoutExact is the options without the exact search: small jobs are then planned as large ones are.
func WithoutExact(o Options) Options {
	o.noExact = true
	return o
}
