// SPDX-License-Identifier: Apache-2.0

package network

import (
	"fmt"
	"slices"
	"strings"
)

// escaper keeps "/", which separates the domains of a path, out of their names, so that names that differ still do.
var escaper = strings.NewReplacer("%", "%25", "/", "%2F")

// uniqueName is a name that is not taken yet: the short one, else the full one, else one with a number.
func uniqueName(taken []string, short, full string) string {
	if !slices.Contains(taken, short) {
		return short
	}
	name := full
	for i := 2; slices.Contains(taken, name); i++ {
		name = fmt.Sprintf("%s %d", full, i)
	}
	return name
}

// lastPart of a label's key is what comes after its prefix.
func lastPart(key string) string { return key[strings.LastIndex(key, "/")+1:] }
