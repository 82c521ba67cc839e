// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"strconv"
	"strings"
)

// PortRange returns the ports in which the launcher looks for free ones, both ends included; false where it was given none.
//
// Source: python/paddle/distributed/launch/context/node.py reads PORT_RANGE.
func PortRange(env map[string]string) (low, high int, ok bool) {
	first, last, found := strings.Cut(env["PORT_RANGE"], ":")
	low, err := strconv.Atoi(first)
	high, err2 := strconv.Atoi(last)
	return low, high, found && err == nil && err2 == nil
}
