// SPDX-License-Identifier: Apache-2.0

package workers

import (
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestRefused(t *testing.T) {
	t.Parallel()
	status := func(code int32, causes ...metav1.StatusCause) error {
		return &apierrors.StatusError{ErrStatus: metav1.Status{Code: code, Details: &metav1.StatusDetails{Causes: causes}}}
	}
	for name, tc := range map[string]struct {
		err  error
		want bool
	}{
		"bad request":          {err: status(http.StatusBadRequest), want: true},
		"forbidden":            {err: status(http.StatusForbidden), want: true},
		"invalid":              {err: status(http.StatusUnprocessableEntity), want: true},
		"too large":            {err: status(http.StatusRequestEntityTooLarge), want: true},
		"conflict":             {err: status(http.StatusConflict)},
		"too many requests":    {err: status(http.StatusTooManyRequests)},
		"server error":         {err: status(http.StatusInternalServerError)},
		"no error":             {},
		"no answer":            {err: errors.New("connection refused")},
		"namespace is leaving": {err: status(http.StatusForbidden, metav1.StatusCause{Type: corev1.NamespaceTerminatingCause})},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, Refused(tc.err))
			require.Equal(t, tc.want, Refused(fmt.Errorf("creating: %w", tc.err)))
		})
	}
}
