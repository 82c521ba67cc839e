// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"time"

	"github.com/paddle-volcano/paddle-volcano/controller/view"
)

// Some reasons stand in events only: why the API server refuses pods, and why the kubelet cannot mount a volume. Events are too
// many to watch, so they are listed for one job whose pods are late.
const (
	// EventsAfter is how late pods are before the events are listed: nearly all pods are in time.
	EventsAfter = 5 * time.Second
	// EventsPeriod is how often the events are listed again.
	EventsPeriod = 30 * time.Second
)

// events looks again when the events are listed next, of pods that Volcano does not create or the kubelet does not start.
func (p *Plan) events(v *view.View) {
	late := v.PlacedFor()
	switch {
	case !v.UnmadeSince.IsZero():
		late = v.Now.Sub(v.UnmadeSince)
	case v.Mounting() == nil:
		return
	}
	if late < EventsAfter {
		p.lookAgainIn(EventsAfter - late)
		return
	}
	p.lookAgainIn(EventsPeriod)
}
