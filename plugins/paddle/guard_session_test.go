// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"bytes"
	"flag"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/klog/v2"
	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/framework"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/guard"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/metrics"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
)

const shortPlanning = "    arguments:\n      planning-seconds: 0.1\n"

// faults fail work on jobs, and count how often it was tried: of plans, the searches.
type faults struct {
	mu    sync.Mutex
	tried map[guard.Work]int
	fail  func(of guard.Work, searches bool)
}

func (f *faults) inject(of guard.Work, searches bool) {
	if searches || of.Part != metrics.PartPlan {
		f.mu.Lock()
		f.tried[of]++
		f.mu.Unlock()
	}
	f.fail(of, searches)
}

// withFaults is a cluster whose plugin fails as fail does.
func withFaults(t *testing.T, fail func(of guard.Work, searches bool), objects ...any) (*cluster, *faults) {
	t.Helper()
	f := &faults{tried: map[guard.Work]int{}, fail: fail}
	c := newCluster(t, configuration(actionsAll, tier(1, "", withPaddle+shortPlanning), tier(2, "", "")), objects...)
	framework.RegisterPluginBuilder(PluginName, newBuilder(&stateStore{inject: f.inject}))
	return c, f
}

func jobID(name string) api.JobID { return api.JobID(namespace + "/" + name) }

// failedGang is a job "bad" of 2 servers and 2 workers, and a job "good" after it.
func failedGang(badCPU string) []any {
	cpu := resources{"cpu": badCPU, "memory": "1Gi"}
	return []any{
		podGroup("bad", 4, twoTwo), pods("bad", "ps", 2, cpu), pods("bad", "worker", 2, cpu),
		podGroup("good", 4, twoTwo), pods("good", "ps", 2, oneCPU), pods("good", "worker", 2, oneCPU),
		node("n1", resources{"cpu": "4", "memory": "8Gi"}), node("n2", resources{"cpu": "4", "memory": "8Gi"}),
	}
}

func members(jobs ...string) (names []string) {
	for _, job := range jobs {
		names = append(names, job+"-ps-0", job+"-ps-1", job+"-worker-0", job+"-worker-1")
	}
	slices.Sort(names)
	return names
}

// logged is what is logged while do runs.
func logged(t *testing.T, do func()) string {
	t.Helper()
	var flags flag.FlagSet
	klog.InitFlags(&flags)
	var text bytes.Buffer
	require.NoError(t, flags.Set("logtostderr", "false"))
	require.NoError(t, flags.Set("stderrthreshold", "FATAL"))
	require.NoError(t, flags.Set("one_output", "true"))
	klog.SetOutput(&text)
	defer func() {
		klog.Flush()
		require.NoError(t, flags.Set("logtostderr", "true"))
		require.NoError(t, flags.Set("one_output", "false"))
	}()
	do()
	klog.Flush()
	return text.String()
}

// A panic, wherever planning a job may have one, leaves that job to Volcano's scoring, and the others as they are.
func TestAPlannerThatFailsByPanic(t *testing.T) {
	for name, test := range map[string]struct {
		part     string
		searches bool
	}{
		"in the search":            {metrics.PartPlan, true},
		"in the plugin's own work": {metrics.PartPlan, false},
		"in conditions and events": {metrics.PartText, false},
	} {
		t.Run(name, func(t *testing.T) {
			c, _ := withFaults(t, func(of guard.Work, searches bool) {
				if of == (guard.Work{Part: test.part, Job: jobID("bad")}) && searches == test.searches {
					panic("no such domain")
				}
			}, failedGang("1")...)
			changes := added(t, func() { c.sessions(2, members("bad", "good")...) })
			require.InDelta(t, 1, changes[fmt.Sprintf("volcano_paddle_panics_total{part=%q}", test.part)], 0)
		})
	}
}

// A gang whose planning panicked is held back, and the stack is logged once; what does not fit whole is not started.
func TestAPlannerThatFailsIsBackedOff(t *testing.T) {
	c, f := withFaults(t, func(of guard.Work, searches bool) {
		if of.Job == jobID("bad") && of.Part == metrics.PartPlan && searches {
			panic("index out of range")
		}
	}, failedGang("3")...)
	text := logged(t, func() {
		changes := added(t, func() { c.sessions(5, members("good")...) })
		require.InDelta(t, 1, changes[`volcano_paddle_panics_total{part="plan"}`], 0)
		require.Positive(t, changes[`volcano_paddle_plans_total{outcome="failed"}`])
	})
	require.Equal(t, 1, strings.Count(text, "The plugin panicked"), text)
	require.Contains(t, text, "TestAPlannerThatFailsIsBackedOff", "the stack")
	require.Equal(t, 1, f.tried[guard.Work{Part: metrics.PartPlan, Job: jobID("bad")}])
}

// A panic in an explanation changes nothing for the job that is explained: it waits, because it does not fit.
func TestAPlannerThatFailsToExplain(t *testing.T) {
	for _, searches := range []bool{true, false} {
		c, _ := withFaults(t, func(of guard.Work, searching bool) {
			if of == (guard.Work{Part: metrics.PartExplanation, Job: jobID("bad")}) && searches == searching {
				panic("no such tier")
			}
		}, failedGang("5")...)
		changes := added(t, func() { c.sessions(3, members("good")...) })
		require.InDelta(t, 1, changes[`volcano_paddle_panics_total{part="explanation"}`], 0)
		require.Equal(t, string(report.InsufficientResources), c.condition("bad").Reason)
	}
}

// A panic in the reckoning of a job's limits keeps its pods pending, for they could break a limit.
func TestAPlannerThatFailsToReadALimit(t *testing.T) {
	c, _ := withFaults(t, func(of guard.Work, _ bool) {
		if of == (guard.Work{Part: metrics.PartLimit, Job: jobID("bad")}) {
			panic("no such tier")
		}
	}, failedGang("1")...)
	changes := added(t, func() { c.sessions(1, members("good")...) })
	require.Positive(t, changes[`volcano_paddle_panics_total{part="limit"}`])
}

// A panic in the score of nodes leaves the score to the other plugins.
func TestAPlannerThatFailsToScore(t *testing.T) {
	c, f := withFaults(t, func(of guard.Work, searches bool) {
		if of.Job == jobID("bad") && (of.Part == metrics.PartScore || of.Part == metrics.PartPlan && searches) {
			panic("no such node")
		}
	}, failedGang("1")...)
	changes := added(t, func() { c.sessions(2, members("bad", "good")...) })
	require.InDelta(t, 1, changes[`volcano_paddle_panics_total{part="score"}`], 0)
	require.Equal(t, 1, f.tried[guard.Work{Part: metrics.PartScore, Job: jobID("bad")}])
}

// A search that neither ends nor stops is abandoned: the session ends, and all gangs start.
func TestAPlannerThatFailsToEnd(t *testing.T) {
	end := make(chan struct{})
	c, f := withFaults(t, func(of guard.Work, searches bool) {
		if of.Job == jobID("bad") && searches {
			<-end
		}
	}, failedGang("3")...) // bad does not fit
	begin := time.Now()
	changes := added(t, func() { c.sessions(4, members("good")...) })
	require.Less(t, time.Since(begin), 30*time.Second)
	require.Equal(t, 1, f.tried[guard.Work{Part: metrics.PartPlan, Job: jobID("bad")}])
	require.InDelta(t, 1, changes[`volcano_paddle_stopped_searches_total{result="abandoned"}`], 0)
	require.InDelta(t, 1, changes["volcano_paddle_abandoned_searches"], 0)
	require.Positive(t, changes["volcano_paddle_session_planning_seconds_sum"])
	close(end)
	require.Eventually(t, func() bool { return scrape(t)["volcano_paddle_abandoned_searches"] == 0 }, 10*time.Second, time.Millisecond)
}

// With so many searches that do not end, nothing is planned: each holds a core.
func TestAPlannerThatFailsToEndIsAbandonedAFewTimes(t *testing.T) {
	end := make(chan struct{})
	objects := []any{node("n1", resources{"cpu": "64", "memory": "64Gi"}), node("n2", resources{"cpu": "64", "memory": "64Gi"})}
	var jobs []string
	for i := range 4 {
		job := fmt.Sprintf("job%d", i)
		jobs = append(jobs, job)
		objects = append(objects, podGroup(job, 4, twoTwo), pods(job, "ps", 2, oneCPU), pods(job, "worker", 2, oneCPU))
	}
	c, _ := withFaults(t, func(_ guard.Work, searches bool) {
		if searches {
			<-end
		}
	}, objects...)
	changes := added(t, func() {
		c.sessions(2, members(jobs...)...)
		c.run()
		for i := range 4 {
			job := fmt.Sprintf("new%d", i)
			jobs = append(jobs, job)
			c.add(podGroup(job, 4, twoTwo), pods(job, "ps", 2, oneCPU), pods(job, "worker", 2, oneCPU))
			c.sessions(1, members(jobs...)...)
		}
	})
	require.InDelta(t, 2, changes[`volcano_paddle_stopped_searches_total{result="abandoned"}`], 0)
	close(end)
	require.Eventually(t, func() bool { return scrape(t)["volcano_paddle_abandoned_searches"] == 0 }, 10*time.Second, time.Millisecond)
}

// A search that takes the session's time is stopped. Its job is held back; jobs that come after it are planned again in
// the next session.
func TestAPlannerThatFailsToEndInTime(t *testing.T) {
	objects := failedGang("3")
	c, f := withFaults(t, func(of guard.Work, searches bool) {
		if of.Job == jobID("bad") && searches {
			time.Sleep(200 * time.Millisecond)
		}
	}, objects...)
	changes := added(t, func() { c.sessions(3, members("good")...) })
	require.InDelta(t, 1, changes[`volcano_paddle_stopped_searches_total{result="stopped"}`], 0)
	require.Zero(t, changes[`volcano_paddle_stopped_searches_total{result="abandoned"}`])
	require.Equal(t, 1, f.tried[guard.Work{Part: metrics.PartPlan, Job: jobID("bad")}])
	c.add(podGroup("next", 4, twoTwo), pods("next", "ps", 2, resources{"cpu": "0"}), pods("next", "worker", 2, resources{"cpu": "0"}))
	changes = added(t, func() { c.sessions(1, members("good", "next")...) })
	require.InDelta(t, 1, changes[`volcano_paddle_plans_total{outcome="placed"}`], 0)
}
