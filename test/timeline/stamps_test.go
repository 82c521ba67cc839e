// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var begin = time.Date(2026, 11, 22, 1, 0, 0, 0, time.UTC)

// at is so many milliseconds after a job's creation.
func at(ms int) time.Time { return begin.Add(time.Duration(ms) * time.Millisecond) }

// byIPs is a job whose environment is written once all IPs are known; the kubelet retries later.
func byIPs() Stamps {
	pod := func(name, role string, begins, main int) Pod {
		return Pod{
			Name: name, Role: role, Created: at(70), Addressed: at(2600),
			Barrier: Run{Started: at(begins), Ended: at(begins + 6)}, Main: Run{Started: at(main)},
		}
	}
	return Stamps{
		Environment: at(2700),
		Pods:        []Pod{pod("j-worker-0", "worker", 14000, 15000), pod("j-ps-0", "ps", 16000, 17000)},
	}
}

// byNames is a job whose environment is written first; its barrier waits for names.
func byNames() Stamps {
	s := byIPs()
	s.Environment = at(8)
	for i := range s.Pods {
		p := &s.Pods[i]
		p.Named, p.Barrier, p.Main = at(2900+50*i), Run{at(1800 + 50*i), at(3100 + 100*i)}, Run{Started: at(3900 + 100*i)}
	}
	return s
}

func TestBarrier(t *testing.T) {
	ips, names := byIPs(), byNames()
	const ms = time.Millisecond
	cost, guarded := ips.Barrier()
	require.True(t, guarded)
	require.Equal(t, BarrierCost{Added: 1000 * ms, Idle: 6 * ms}, cost, "from the start of the last barrier")
	cost, guarded = names.Barrier()
	require.True(t, guarded)
	require.Equal(t, BarrierCost{Added: 1050 * ms, Idle: 250 * ms}, cost, "from when the last name is known")
	require.Equal(t, "start barrier: main containers started 1.05s after it could end; it ran 0.25s longer than needed", cost.String())

	// Pods that replace others, or come once the job trains, do not count.
	again := ips.Pods[0]
	again.Created, again.Main = at(16500), Run{Started: at(60000)}
	ips.Pods = append([]Pod{again, {Name: "j-worker-9", Role: "worker", Created: at(30000)}}, ips.Pods...)
	cost, guarded = ips.Barrier()
	require.True(t, guarded)
	require.Equal(t, 1000*ms, cost.Added)

	for name, spoil := range map[string]func(*Stamps){
		"no barrier":                    func(s *Stamps) { s.Pods[1].Barrier = Run{} },
		"a barrier that runs":           func(s *Stamps) { s.Pods[1].Barrier.Ended = time.Time{} },
		"a main container that did not": func(s *Stamps) { s.Pods[1].Main = Run{} },
		"no pods":                       func(s *Stamps) { s.Pods = nil },
	} {
		s := byNames()
		spoil(&s)
		_, guarded := s.Barrier()
		require.False(t, guarded, name)
	}
}
