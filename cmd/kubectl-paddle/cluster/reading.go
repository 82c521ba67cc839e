// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// reading remembers what could not be read.
type reading struct {
	// forbidden is told what the user has no right to read; the rest goes on.
	forbidden func(what string)
	err       error
}

// leaveOut names what may not be read in a list, in words.
func leaveOut(unread *[]string) *reading {
	return &reading{forbidden: func(what string) { *unread = append(*unread, what+" (you have no right to read them)") }}
}

// read says whether something was read; what is not there, or is of a kind that the cluster does not have, is no error.
func (r *reading) read(what string, err error) bool {
	switch {
	case err == nil:
		return true
	case apierrors.IsNotFound(err):
	case noRight(err):
		r.forbidden(what)
	default:
		r.err = errors.Join(r.err, fmt.Errorf("read %s: %w", what, err))
	}
	return false
}

func noRight(err error) bool { return apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) }

func pointers[T any](list []T) []*T {
	all := make([]*T, len(list))
	for i := range list {
		all[i] = &list[i]
	}
	return all
}
