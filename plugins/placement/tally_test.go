// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTally(test *testing.T) {
	t := gpuTree(test, 1, 1, 1)
	a := newTally(t)
	b := newTally(t) // two at once do not share numbers
	a.add(2, 5)
	a.add(0, 1)
	a.add(2, -2)
	b.add(2, 7)
	require.Equal(test, []DomainID{2, 0}, a.domains)
	require.Equal(test, []int64{3, 1}, a.sums)
	require.EqualValues(test, 3, a.of(2))
	require.EqualValues(test, 7, b.of(2))
	require.Zero(test, a.of(1))

	a.close()
	require.NotNil(test, t.numbers)
	for _, n := range t.numbers {
		require.Zero(test, n)
	}
	c := newTally(t)
	require.Nil(test, t.numbers, "they are lent")
	require.Zero(test, c.of(2))
	require.EqualValues(test, 7, b.of(2))
}
