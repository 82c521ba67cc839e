// SPDX-License-Identifier: Apache-2.0

package workers

import (
	"errors"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// ErrStale means that what was decided rests on something that has changed since; a later sync decides again. It is logged
// as no error.
var ErrStale = errors.New("changed meanwhile")

// Refused reports whether an error is an answer of the API server that only a change by the user, or of a quota or a webhook,
// can turn. That a namespace is being deleted is none.
func Refused(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		return false
	}
	switch status.Status().Code {
	case http.StatusBadRequest, http.StatusForbidden, http.StatusUnprocessableEntity, http.StatusRequestEntityTooLarge:
		return true
	}
	return false
}
