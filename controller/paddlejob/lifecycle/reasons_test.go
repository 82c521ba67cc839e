// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRefusalReason(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]string{
		`pods "a" is forbidden: exceeded quota: few, requested: pods=1, used: pods=2, limited: pods=2`: "QuotaExceeded",
		`pods "a" is forbidden: failed quota: few: must specify limits.cpu for: paddle`:                "PodsRefused",
		`pods "a" is forbidden: violates PodSecurity "baseline:latest": hostPort`:                      "PodSecurityViolation",
		`admission webhook "policy.example.com" denied the request: no`:                                "PodsRefused",
	} {
		require.Equal(t, want, RefusalReason(message), message)
		require.True(t, IsRefusal(want))
	}
	require.False(t, IsRefusal("InsufficientResources"))
}
