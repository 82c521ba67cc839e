// SPDX-License-Identifier: Apache-2.0

package gangs_test

import (
	"fmt"
	"time"
)

const (
	// longest is for how long a gang may be partly bound while others are bound.
	longest = 5 * time.Second
	// stalled is for how long it may be where nothing is bound that began later: an API server on two busy cores is not slower.
	stalled = time.Minute
)

// partFaults says what is wrong with the way in which gangs were bound, and, as notes, what was slow and nobody's fault.
// Gangs are in any order, and the same order gives the same words.
func partFaults(gangs []*gang) (faults, notes []string) {
	for _, g := range gangs {
		if len(g.bindings) == 0 {
			continue
		}
		n, whole := g.whole()
		if !whole {
			faults = append(faults, fmt.Sprintf("%s is left partly bound: %d pods are, of %d", g, len(g.bindings), g.members))
		}
		faults = append(faults, g.abandoned()...)
		arrived, stamped := g.took()
		if !whole || min(arrived, stamped) <= longest {
			continue
		}
		told := fmt.Sprintf("%s was partly bound for %.1f s (%.0f s by the API server's stamps; %d pods)", g, arrived.Seconds(), stamped.Seconds(), n)
		if by := overtaker(g, gangs); by != nil {
			faults = append(faults, told+": "+by.String()+" began later by more than the bound and was whole earlier")
		} else if min(arrived, stamped) > stalled {
			faults = append(faults, told+": nobody overtook it, but no API server is as slow")
		} else {
			notes = append(notes, told+": nobody overtook it, so the API server was slow")
		}
	}
	return faults, notes
}

// abandoned are the scheduler's words, while the gang was partly bound, that what the gang cannot do without is not
// schedulable.
func (g *gang) abandoned() []string {
	part := g.minimum()
	first, last := part[0].version, part[len(part)-1].version
	var faults []string
	left := map[string]map[string]bool{}
	for _, r := range g.refusals {
		if r.version < first || r.version > last {
			continue
		}
		if r.pod == "" {
			faults = append(faults, fmt.Sprintf("%s was partly bound when the scheduler said of it: %s", g, r.words))
			continue
		}
		if left[r.task] == nil {
			left[r.task] = map[string]bool{}
		}
		left[r.task][r.pod] = true
		if g.pods[r.task]-len(left[r.task]) < g.tasks[r.task] {
			faults = append(faults, fmt.Sprintf("%s was partly bound when the scheduler said of %s: %s", g, r.pod, r.words))
		}
	}
	return faults
}

// overtaker is a gang that began when the bound was over for g, and was whole before g was; nil if there is none.
func overtaker(g *gang, gangs []*gang) *gang {
	mine := g.minimum()
	for _, other := range gangs {
		theirs := other.minimum()
		if _, whole := other.whole(); !whole || other == g {
			continue
		}
		if theirs[0].arrived.Sub(mine[0].arrived) > longest && theirs[len(theirs)-1].version < mine[len(mine)-1].version {
			return other
		}
	}
	return nil
}
