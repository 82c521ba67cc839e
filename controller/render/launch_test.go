// SPDX-License-Identifier: Apache-2.0

package render

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAddressPrefix(t *testing.T) {
	for name, c := range map[string]struct {
		addresses   Addresses
		short, long string
	}{
		"none":                 {Addresses{RolePS: {"10.0.0.1"}, RoleWorker: {"10.0.0.2", "10.0.0.3"}}, "", ""},
		"across roles":         {Addresses{RolePS: {"10.0.0.12"}, RoleWorker: {"10.0.0.2", "10.0.0.1"}}, "10.0.0.1", "10.0.0.12"},
		"with one between":     {Addresses{RolePS: {"10.0.0.1", "10.0.0.10"}, RoleWorker: {"10.0.0.12"}}, "10.0.0.1", "10.0.0.10"},
		"one host for two":     {Addresses{RolePS: {"10.0.0.1"}, RoleWorker: {"10.0.0.1"}}, "", ""},
		"names":                {ServiceAddresses(paddleJob(12, 12)), "", ""},
		"a digit in the way":   {Addresses{RolePS: {"10.0.0.1", "10.0.1.1"}}, "", ""},
		"nothing to compare":   {Addresses{}, "", ""},
		"first of its octet":   {Addresses{RoleWorker: {"10.0.10.1", "10.0.1.1", "10.0.1.11"}}, "10.0.1.1", "10.0.1.11"},
		"others lie around it": {Addresses{RoleWorker: {"10.0.0.2", "10.0.0.19", "10.0.0.20", "10.0.0.3"}}, "10.0.0.2", "10.0.0.20"},
	} {
		t.Run(name, func(t *testing.T) {
			short, long := AddressPrefix(c.addresses)
			require.Equal(t, []string{c.short, c.long}, []string{short, long})
		})
	}
}
