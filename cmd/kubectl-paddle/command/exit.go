// SPDX-License-Identifier: Apache-2.0

package command

import (
	"errors"
	"fmt"
	"regexp"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Exit codes; the help and README.md list them.
const (
	exitFailed   = 1
	exitUsage    = 2
	exitNotFound = 3
	exitRefused  = 4
	exitWaits    = 5
)

// codedError is an error that has an exit code of its own.
type codedError struct {
	code int
	err  error
}

func (e *codedError) Error() string { return e.err.Error() }
func (e *codedError) Unwrap() error { return e.err }

func usage(format string, args ...any) error {
	return &codedError{exitUsage, fmt.Errorf(format, args...)}
}

func notFound(format string, args ...any) error {
	return &codedError{exitNotFound, fmt.Errorf(format, args...)}
}

func refused(format string, args ...any) error {
	return &codedError{exitRefused, fmt.Errorf(format, args...)}
}

func waits(format string, args ...any) error {
	return &codedError{exitWaits, fmt.Errorf(format, args...)}
}

// noRight is how the API server says that the user may not do something; other refusals are about the object.
var noRight = regexp.MustCompile(` cannot [a-z]+ resource "`)

// exitCode is the exit code of an error.
func exitCode(err error) int {
	var coded *codedError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &coded):
		return coded.code
	case apierrors.IsNotFound(err):
		return exitNotFound
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err), apierrors.IsAlreadyExists(err),
		apierrors.IsForbidden(err) && !noRight.MatchString(err.Error()):
		return exitRefused
	}
	return exitFailed
}
