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
		"ring": collectiveGang(t, 3, true), "alone": collectiveGang(t, 1, false),
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

func TestACrashCanBeAskedForEachTime(t *testing.T) {
	g := collectiveGang(t, 1, false).set("TRAINER_CRASH_AT_STEP", "5").set("TRAINER_CRASH_ATTEMPT", "0")
	for range 2 {
		require.Equal(t, ExitCrash, g.run(t)["worker-0"].code)
	}
	g.set("TRAINER_CRASH_ATTEMPT", "4")
	g.requireTrained(t, 1, g.run(t))
}

// A trainer that is started again while its servers and the other trainers wait takes up where it was.
func TestATrainerComesBack(t *testing.T) {
	g := psGang(t, 3, 2, 0, false).set("TRAINER_CRASH_AT_STEP", "33").set("TRAINER_CRASH_RANK", "0")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	waits := map[string]<-chan ended{}
	for _, p := range g.pods {
		waits[p.name] = g.start(ctx, p, nil)
	}
	all := map[string]ended{}
	crashed := <-waits["worker-0"]
	require.Equal(t, ExitCrash, crashed.code, crashed.log)
	all["worker-0"] = <-g.start(ctx, g.pods[3], nil)
	all["worker-1"] = <-waits["worker-1"]
	stop()
	for _, name := range []string{"ps-0", "ps-1", "ps-2"} {
		all[name] = <-waits[name]
	}
	g.requireTrained(t, 2, all)
	require.Contains(t, all["worker-0"].log, "resumed from step 33")
	require.Contains(t, all["ps-0"].log, "TRAINER 0 has gone before it was done")
}

// A server that is lost takes its shard with it: the trainers fail, and the gang starts again from the checkpoint.
func TestAServerIsLost(t *testing.T) {
	g := psGang(t, 2, 2, 0, false).set("TRAINER_STEP_TIME", "5ms")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	doomed, kill := context.WithCancel(ctx)
	defer kill()
	var waits []<-chan ended
	for i, p := range g.pods {
		own, seen := ctx, func(string) {}
		if i == 1 {
			own = doomed
		}
		if i == 2 {
			seen = func(line string) {
				if strings.HasPrefix(line, "step 30 ") {
					kill()
				}
			}
		}
		waits = append(waits, g.start(own, p, seen))
	}
	for _, wait := range waits[2:] {
		end := <-wait
		require.Equal(t, ExitFailed, end.code, end.log)
		require.Regexp(t, "server 1 at "+g.pods[1].ip+":36020(: the server ends| has gone)", end.log)
	}
	stop()
	for _, wait := range waits[:2] {
		require.Equal(t, ExitStopped, (<-wait).code)
	}
	all := g.run(t)
	g.requireTrained(t, 2, all)
	require.Contains(t, all["worker-1"].log, "resumed from step ")
}

// A server that has lost its shard cannot go on with one that has not.
func TestAServerAloneCannotComeBack(t *testing.T) {
	g := psGang(t, 2, 1, 0, false).set("TRAINER_CRASH_AT_STEP", "33").set("TRAINER_DEADLINE", "5s")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	second, kill := context.WithCancel(ctx)
	defer kill()
	first, doomed := g.start(ctx, g.pods[0], nil), g.start(second, g.pods[1], nil)
	require.Equal(t, ExitCrash, (<-g.start(ctx, g.pods[2], nil)).code)
	kill()
	<-doomed
	again := g.start(ctx, g.pods[1], nil)
	end := <-g.start(ctx, g.pods[2], nil)
	require.Equal(t, ExitFailed, end.code)
	require.Contains(t, end.log, "server 1 has no parameters, and server 0 is at step 33: the job must restart as a whole")
	stop()
	<-first
	<-again
}

// The others wait for one that is slow.
func TestASlowStart(t *testing.T) {
	g := psGang(t, 1, 2, 1, false)
	g.pods[0].env["TRAINER_SLOW_START"] = "300ms"
	g.requireTrained(t, 2, g.run(t))
	ring := collectiveGang(t, 2, true)
	ring.pods[0].env["TRAINER_SLOW_START"] = "300ms"
	ring.requireTrained(t, 2, ring.run(t))
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
