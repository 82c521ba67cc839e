// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var begin = time.Date(2026, 11, 22, 1, 0, 0, 0, time.UTC)

// at is so many milliseconds after a job's creation.
func at(ms int) time.Time { return begin.Add(time.Duration(ms) * time.Millisecond) }

// byIPs is a job whose environment is written once all IPs are known; the kubelet tries again later.
func byIPs() Stamps {
	pod := func(name, role string, begins, main, step int) Pod {
		p := Pod{
			Name: name, Role: role, Created: at(70), Bound: at(1090), Pulled: at(1700), Addressed: at(2600), Lacked: at(1710),
			Barrier: Run{Started: at(begins), Ended: at(begins + 6)}, Main: Run{Started: at(main)},
		}
		if step > 0 {
			p.FirstStep = at(step)
		}
		return p
	}
	return Stamps{
		Job: "wide & deep", Created: at(0), VolcanoJob: at(10), Enqueued: at(60), Placed: at(1095), Plan: 3 * time.Millisecond, Environment: at(2700),
		Pods: []Pod{pod("j-worker-0", "worker", 14000, 15000, 17200), pod("j-ps-0", "ps", 16000, 17000, 0)},
	}
}

// byNames is a job whose environment is written first; its barrier waits for names.
func byNames() Stamps {
	s := byIPs()
	s.Environment, s.Plan = at(8), 0
	for i := range s.Pods {
		p := &s.Pods[i]
		p.Lacked, p.Named = time.Time{}, at(2900+50*i)
		p.Barrier, p.Main = Run{at(1800 + 50*i), at(3100 + 100*i)}, Run{Started: at(3900 + 100*i)}
	}
	s.Pods[0].FirstStep = at(4300)
	return s
}

// told is a path in short: what each span is, and when it ended in milliseconds.
func told(spans []Span) map[Phase]int64 {
	ends := map[Phase]int64{}
	for _, span := range spans {
		ends[span.Phase] = span.To.Milliseconds()
	}
	return ends
}

func TestPath(t *testing.T) {
	ips, names := byIPs(), byNames()
	nothing, begun := Stamps{Job: "j"}, Stamps{Job: "j", Created: at(0), VolcanoJob: at(10), Pods: []Pod{{Name: "p", Created: at(20)}}}
	bare := byNames() // without the barrier, and with an image that nobody told of
	for i := range bare.Pods {
		bare.Pods[i].Barrier, bare.Pods[i].Pulled = Run{}, time.Time{}
	}
	decided := byNames()
	decided.Placed = at(1080)
	tests := map[string]struct {
		stamps *Stamps
		want   map[Phase]int64
	}{
		"by IPs": {&ips, map[Phase]int64{
			Admission: 10, Enqueue: 60, Pods: 70, Plan: 1090, Bind: 1090, Image: 1700, Environment: 2700, Backoff: 16000, Names: 16006, Main: 17000, Program: 17200,
		}},
		"by names": {&names, map[Phase]int64{
			Admission: 10, Enqueue: 60, Pods: 70, Plan: 1090, Bind: 1090, Image: 1700, Environment: 1700, Container: 1850, Names: 3200, Main: 4000, Program: 4300,
		}},
		"decided before it is bound": {&decided, map[Phase]int64{
			Admission: 10, Enqueue: 60, Pods: 70, Plan: 1080, Bind: 1090, Image: 1700, Environment: 1700, Container: 1850, Names: 3200, Main: 4000, Program: 4300,
		}},
		"without a barrier": {&bare, map[Phase]int64{
			Admission: 10, Enqueue: 60, Pods: 70, Plan: 1090, Bind: 1090, Environment: 1090, Container: 4000, Main: 4000, Program: 4300,
		}},
		"a job that has just begun": {&begun, map[Phase]int64{Admission: 10, Pods: 20}},
		"nothing":                   {&nothing, map[Phase]int64{}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			path := tc.stamps.Path()
			require.Equal(t, tc.want, told(path))
			var last time.Duration
			for _, span := range path {
				require.Equal(t, last, span.From, "without a gap")
				require.GreaterOrEqual(t, span.To, span.From)
				last = span.To
			}
		})
	}
}

func TestRowsAreThePodsInOrder(t *testing.T) {
	s := byIPs()
	rows := s.Rows()
	require.Equal(t, []string{"the gang", "j-ps-0", "j-worker-0"}, []string{rows[0].Name, rows[1].Name, rows[2].Name})
	require.Equal(t, map[Phase]int64{Plan: 1090, Image: 1700, Environment: 2700, Backoff: 16000, Names: 16006, Main: 17000, Serving: 17200}, told(rows[1].Spans))
	require.Equal(t, map[Phase]int64{Plan: 1090, Image: 1700, Environment: 2700, Backoff: 14000, Names: 14006, Main: 15000, Program: 17200}, told(rows[2].Spans))
}

func TestOnlyTheFirstGangIsDrawn(t *testing.T) {
	s := byIPs()
	want := s.Rows()
	again := s.Pods[0]
	again.Created, again.FirstStep = at(16500), at(40000)
	late := Pod{Name: "j-worker-9", Role: "worker", Created: at(30000)}
	s.Pods = append([]Pod{again, late}, s.Pods...)
	require.Equal(t, want, s.Rows())
}

func TestBarrier(t *testing.T) {
	ips, names := byIPs(), byNames()
	cost, guarded := ips.Barrier()
	require.True(t, guarded)
	ms := time.Millisecond
	require.Equal(t, BarrierCost{Pods: 2, Known: 2700 * ms, Late: 13300 * ms, Added: 1000 * ms, Shortest: 6 * ms, Longest: 6 * ms, Idle: 6 * ms}, cost)
	require.Equal(t, "the barrier adds at most 1.00 s: from when the last barrier ran until the last main container started;"+
		"it ran 13.30 s after every peer could be found, by the kubelet's own pace;"+
		"the 2 init containers themselves took 6.0 ms to 6.0 ms, at most 6.0 ms of it when every peer could be found", strings.Join(cost.Sentences(), ";"))

	cost, guarded = names.Barrier()
	require.True(t, guarded)
	require.Equal(t, BarrierCost{Pods: 2, Known: 2950 * ms, Added: 1050 * ms, Shortest: 1300 * ms, Longest: 1350 * ms, Idle: 250 * ms}, cost)
	require.Equal(t, "the barrier adds at most 1.05 s: from when every peer could be found until the last main container started;"+
		"the 2 init containers themselves took 1.30 s to 1.35 s, at most 0.25 s of it when every peer could be found", strings.Join(cost.Sentences(), ";"))

	for name, spoil := range map[string]func(*Stamps){
		"no barrier":              func(s *Stamps) { s.Pods[1].Barrier = Run{} },
		"a barrier that goes on":  func(s *Stamps) { s.Pods[1].Barrier.Ended = time.Time{} },
		"a main that never began": func(s *Stamps) { s.Pods[1].Main = Run{} },
		"no pods":                 func(s *Stamps) { s.Pods = nil },
	} {
		s := byNames()
		spoil(&s)
		_, guarded := s.Barrier()
		require.False(t, guarded, name)
	}
}

func TestTable(t *testing.T) {
	s := byIPs()
	require.Equal(t, strings.TrimPrefix(`
    FROM       TO     TOOK  WHAT
   0.00s    0.01s    0.01s  admission: the Volcano Job is made
   0.01s    0.06s    0.05s  enqueue: the queue lets the gang in
   0.06s    0.07s    0.01s  pods are made (2 pods)
   0.07s    1.09s    1.02s  plan: the scheduler's next cycle (the plan itself took 3.0 ms)
   1.09s    1.09s    0.00s  bind
   1.09s    1.70s    0.61s  sandbox, network, image
   1.70s    2.70s    1.00s  environment: all addresses are gathered and written (0.10 s after the last pod's address)
   2.70s   16.00s   13.30s  environment, kubelet's back-off (containers that lacked it are tried again after a pause)
  16.00s   16.01s    0.01s  names, DNS: the start barrier
  16.01s   17.00s    0.99s  main container starts
  17.00s   17.20s    0.20s  program: until its first step
   0.00s   17.20s   17.20s  from creation to the first training step
`, "\n"), s.Table())
	s = byNames()
	require.Contains(t, s.Table(), "environment: all addresses are gathered and written (written before the pods had addresses)\n")
	s = Stamps{Created: at(0), VolcanoJob: at(10)}
	require.Contains(t, s.Table(), "   0.00s    0.01s    0.01s  from creation, as far as admission: the Volcano Job is made\n")
}
