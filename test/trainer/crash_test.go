// SPDX-License-Identifier: Apache-2.0

package trainer

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A trainer crashes, the whole gang starts again, and the model is what it would have been.
func TestACrashChangesNothing(t *testing.T) {
	for name, g := range map[string]*gang{
		"servers": psGang(t, 2, 3, 0, false), "gloo": psGang(t, 1, 2, 1, false), "heter": psGang(t, 2, 2, 0, false).heter(1),
		"collective": collectiveGang(t, 3, true), "alone": collectiveGang(t, 1, false),
	} {
		t.Run(name, func(t *testing.T) {
			world := 0
			for _, p := range g.pods {
				if strings.HasPrefix(p.name, "worker") {
					world++
				}
			}
			last := fmt.Sprintf("worker-%d", world-1)
			g.set("TRAINER_CRASH_AT_STEP", "25").set("TRAINER_CRASH_RANK", strconv.Itoa(world-1))
			all := g.run(t)
			require.Equal(t, ExitCrash, all[last].code, all[last].log)
			require.Contains(t, all[last].log, "crash before step 26 in attempt 1, as asked for")
			all = g.run(t)
			g.requireTrained(t, world, all)
			require.Contains(t, all["worker-0"].log, "resumed from step 20")
		})
	}
}

// Names lead nowhere at first, and then to where the predecessor was.
func TestNamesComeLate(t *testing.T) {
	g := psGang(t, 1, 1, 1, true)
	address := g.dns["ps-0.job"]
	delete(g.dns, "ps-0.job")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	server, trainer := g.start(ctx, g.pods[0], nil), g.start(ctx, g.pods[1], nil)
	g.mu.Lock()
	g.dns["ps-0.job"] = []string{"127.9.9.9"}
	g.mu.Unlock()
	g.mu.Lock()
	g.dns["ps-0.job"] = address
	g.mu.Unlock()
	all := map[string]ended{"worker-0": <-trainer}
	stop()
	all["ps-0"] = <-server
	g.requireTrained(t, 1, all)
}
