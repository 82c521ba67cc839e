// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"fmt"
	"net"
	"slices"
)

// EachOnce returns an error where a list of endpoints has an entry twice, or one that is no host and port.
func EachOnce(endpoints []string) error {
	for i, endpoint := range endpoints {
		if _, _, err := net.SplitHostPort(endpoint); err != nil {
			return err
		}
		if slices.Index(endpoints, endpoint) != i {
			return fmt.Errorf("%s stands twice in %v", endpoint, endpoints)
		}
	}
	return nil
}
