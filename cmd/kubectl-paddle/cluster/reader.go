// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// bestEffortReader skips what the user has no permission to read.
type bestEffortReader struct {
	// skip records what is skipped.
	skip func(what, why string)
	err  error
}

// noPermission is why objects are skipped.
const noPermission = "you have no permission to read them"

// collectUnreadable returns a reader that adds what it skips to a list.
func collectUnreadable(unread *[]string) *bestEffortReader {
	return &bestEffortReader{skip: func(what, why string) { *unread = append(*unread, what+" ("+why+")") }}
}

// read reports whether something was read. That an object or its kind does not exist is no error.
func (r *bestEffortReader) read(what string, err error) bool {
	switch {
	case err == nil:
		return true
	case apierrors.IsNotFound(err):
	case isForbidden(err):
		r.skip(what, noPermission)
	default:
		r.err = errors.Join(r.err, fmt.Errorf("read %s: %w", what, err))
	}
	return false
}

// everywhere lists objects of all namespaces, or else of the user's own. It reports whether the list is complete.
func everywhere[L any](r *bestEffortReader, what, namespace string, list func(namespace string) (*L, error)) (found *L, complete bool) {
	found, err := list(metav1.NamespaceAll)
	if complete = err == nil; !complete && isForbidden(err) {
		if found, err = list(namespace); err == nil {
			r.skip(what+" of other namespaces", noPermission)
		}
	}
	if err != nil {
		r.read(what, err)
		return new(L), false
	}
	return found, complete
}

func isForbidden(err error) bool { return apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) }

func pointers[T any](list []T) []*T {
	all := make([]*T, len(list))
	for i := range list {
		all[i] = &list[i]
	}
	return all
}
