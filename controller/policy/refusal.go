// SPDX-License-Identifier: Apache-2.0

package policy

import "strings"

// RefusalReason is the reason for which the API server refuses pods, by its message: Volcano passes nothing else on, and the
// controller has no right to create pods itself. The words are those of the admission plugins ResourceQuota and PodSecurity;
// test/jobs compares them with a real API server.
func RefusalReason(message string) string {
	switch {
	case strings.Contains(message, " is forbidden: exceeded quota: "):
		return ReasonQuotaExceeded
	case strings.Contains(message, ` is forbidden: violates PodSecurity "`):
		return ReasonPodSecurityViolation
	}
	return ReasonPodsRefused
}

// IsRefusal reports whether the reason is that the API server refuses pods.
func IsRefusal(reason string) bool {
	return reason == ReasonQuotaExceeded || reason == ReasonPodSecurityViolation || reason == ReasonPodsRefused
}
