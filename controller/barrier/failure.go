// SPDX-License-Identifier: Apache-2.0

package barrier

import "fmt"

// Exit codes of the program. They are documented in controller/README.md, and none that a training program would choose.
const (
	// ExitWrongCall tells that arguments or variables are not those that the controller writes.
	ExitWrongCall = 64
	// ExitTimeout tells that peers were not found in time.
	ExitTimeout = 75
	// ExitStale tells that the addresses are not those of the job's pods any more.
	ExitStale = 76
	// ExitStopped tells that the pod was told to end: 128 and SIGTERM.
	ExitStopped = 143
)

// failure is why the containers must not start.
type failure struct {
	code int
	text string
}

func (f *failure) Error() string { return f.text }

func fail(code int, format string, args ...any) error {
	return &failure{code: code, text: fmt.Sprintf(format, args...)}
}
