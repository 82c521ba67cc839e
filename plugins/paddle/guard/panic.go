// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"k8s.io/klog/v2"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/metrics"
)

// maxPanics bounds the places of panics whose stacks are logged.
const maxPanics = 100

// panicValue is a panic: its value, where it happened and the stack.
type panicValue struct {
	value any
	where string
	stack string
}

// newPanicValue is called by the deferred function that recovered.
func newPanicValue(value any) *panicValue {
	return &panicValue{value: value, where: panicPlace(), stack: string(debug.Stack())}
}

// panicPlace returns the line that panicked: the first one above the runtime's last panic.
func panicPlace() string {
	callers := make([]uintptr, 64)
	frames := runtime.CallersFrames(callers[:runtime.Callers(1, callers)])
	place, after := "", false
	for {
		frame, more := frames.Next()
		switch {
		case frame.Function == "runtime.gopanic":
			place, after = "", true
		case after && place == "" && !strings.HasPrefix(frame.Function, "runtime."):
			place = fmt.Sprintf("%s:%d", frame.Function, frame.Line)
		}
		if !more {
			return place
		}
	}
}

// panicked counts a panic, logs its stack if it is the first at its place, and backs off.
func (g *Guard) panicked(of Work, p *panicValue) error {
	metrics.CountPanic(of.Part)
	if g.isFirst(p.where) {
		klog.ErrorS(fmt.Errorf("panic: %v", p.value), "The plugin panicked; its stack is logged once", "part", of.Part, "job", of.Job, "at", p.where, "stack", p.stack)
	}
	err := fmt.Errorf("%w (at %s)", ErrPanicked, p.where)
	g.backOff(of, err)
	return err
}

// isFirst reports whether no panic at a place was logged before.
func (g *Guard) isFirst(place string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.panics[place] || len(g.panics) >= maxPanics {
		return false
	}
	g.panics[place] = true
	return true
}
