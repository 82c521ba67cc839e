// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSums(test *testing.T) {
	t := gpuTree(test, 1, 1, 1)
	a := NewSums(t)
	b := NewSums(t) // two at once do not share numbers
	a.Add(2, 5)
	a.Add(0, 1)
	a.Add(2, -2)
	b.Add(2, 7)
	require.Equal(test, []DomainID{2, 0}, a.Domains)
	require.Equal(test, []int64{3, 1}, a.Values)
	require.EqualValues(test, 3, a.Of(2))
	require.EqualValues(test, 7, b.Of(2))
	require.Zero(test, a.Of(1))

	a.Close()
	require.NotNil(test, t.numbers)
	for _, n := range t.numbers {
		require.Zero(test, n)
	}
	c := NewSums(t)
	require.Nil(test, t.numbers, "they are lent")
	require.Zero(test, c.Of(2))
	require.EqualValues(test, 7, b.Of(2))
}

// Of returns the sum of a domain.
func (a *Sums) Of(d DomainID) int64 {
	if place := a.number[d]; place > 0 {
		return a.Values[place-1]
	}
	return 0
}
