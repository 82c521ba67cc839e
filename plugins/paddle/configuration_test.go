// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

const (
	actionsAll  = "enqueue, allocate, backfill"
	withPaddle  = "  - name: paddle\n"
	tier1NoGang = "- plugins:\n  - name: priority\n  - name: paddle\n  - name: conformance\n"
)

// tier is tier 1 or 2 of Volcano's own default configuration, with more plugins before and after (in tier 1 after gang).
func tier(number int, before, after string) string {
	if number == 1 {
		return fmt.Sprintf("- plugins:\n%s  - name: priority\n  - name: gang\n    enablePreemptable: false\n%s"+
			"  - name: conformance\n", before, after)
	}
	return fmt.Sprintf("- plugins:\n%s  - name: overcommit\n  - name: drf\n    enablePreemptable: false\n"+
		"  - name: predicates\n  - name: proportion\n  - name: nodeorder\n  - name: binpack\n%s", before, after)
}

func configuration(actions string, tiers ...string) string {
	return fmt.Sprintf("actions: %q\ntiers:\n%s", actions, strings.Join(tiers, ""))
}

// stock is Volcano's default configuration, without the plugin.
var stock = configuration(actionsAll, tier(1, "", ""), tier(2, "", ""))

// shipped is what deploy/v1/scheduler.yaml holds.
var shipped = configuration(actionsAll, tier(1, "", withPaddle), tier(2, "", ""))

// placements are the places in which an administrator may have put the plugin.
var placements = map[string]string{
	"after gang":        shipped,
	"before gang":       configuration(actionsAll, tier(1, withPaddle, ""), tier(2, "", "")),
	"first in tier 2":   configuration(actionsAll, tier(1, "", ""), tier(2, withPaddle, "")),
	"last in tier 2":    configuration(actionsAll, tier(1, "", ""), tier(2, "", withPaddle)),
	"a tier of its own": configuration(actionsAll, "- plugins:\n"+withPaddle, tier(1, "", ""), tier(2, "", "")),
	"without gang":      configuration(actionsAll, tier1NoGang, tier(2, "", "")),
	"without backfill":  configuration("enqueue, allocate", tier(1, "", withPaddle), tier(2, "", "")),
	"with every action": configuration("enqueue, reclaim, allocate, backfill, preempt", tier(1, "", withPaddle), tier(2, "", "")),
}

// inEveryPlacement runs a test once per place of the plugin.
func inEveryPlacement(t *testing.T, test func(t *testing.T, configuration string)) {
	for _, name := range slices.Sorted(maps.Keys(placements)) {
		t.Run(name, func(t *testing.T) { test(t, placements[name]) })
	}
}
