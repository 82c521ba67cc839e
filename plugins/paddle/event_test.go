// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
	"volcano.sh/apis/pkg/apis/scheduling"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
)

var none scheduling.PodGroupCondition

// heard runs a session for each verdict and gives the numbers of those with which an event was sent.
func heard(s *said, had scheduling.PodGroupCondition, verdicts ...verdict) []int {
	var told []int
	for i, v := range verdicts {
		s.next()
		if s.tell("job", had, v) {
			told = append(told, i)
		}
	}
	return told
}

// repeated gives verdicts in turn.
func repeated(n int, turns ...verdict) []verdict {
	var all []verdict
	for i := range n {
		all = append(all, turns[i%len(turns)])
	}
	return all
}

func TestEventWhenTheReasonChanges(t *testing.T) {
	full := verdict{reason: report.InsufficientResources, text: "no room"}
	quota := verdict{reason: report.QueueCapacity, text: "quota"}
	podless := verdict{reason: report.WaitingForPods, text: "no pods"}
	fuller := verdict{reason: report.InsufficientResources, text: "even less room"}

	for _, test := range []struct {
		name  string
		had   scheduling.PodGroupCondition
		waits []verdict
		told  []int
	}{
		{"once, however long it lasts", none, repeated(500, full), []int{0}},
		{"another reason", none, append(repeated(20, full), repeated(20, quota)...), []int{0, 20}},
		{"another reason, a moment after the first event", none, append(repeated(3, full), repeated(20, quota)...), []int{0, classPause}},
		{"back again before the pause is over", none, append(append(repeated(3, full), repeated(3, quota)...), repeated(50, full)...), []int{0}},
		{"other words of the same reason", none, append(repeated(20, full), repeated(100, fuller)...), []int{0, wordsPause}},
		{"a reason that jobs pass through", none, append(repeated(patience, podless), repeated(3, full)...), []int{patience}},
		{"a reason that jobs pass through on the way back", none, append(append(repeated(20, full), repeated(patience, podless)...), repeated(9, full)...), []int{0}},
		{"a reason that jobs get stuck in", none, repeated(100, podless), []int{patience}},
		{"after the scheduler was restarted", pendingCondition(full), repeated(100, full), nil},
		{"after a restart, for another reason", pendingCondition(full), repeated(100, quota), []int{0}},
	} {
		t.Run(test.name, func(t *testing.T) {
			require.Equal(t, test.told, heard(newSaid(), test.had, test.waits...))
		})
	}
}

// Numbers that change each second, or reasons that do, make ever fewer events: 25 and then one in five minutes is all that
// reaches the API server about one PodGroup.
func TestEventsOfFlappingReasons(t *testing.T) {
	const day = 24 * 60 * 60
	var numbers []verdict
	for i := range day {
		numbers = append(numbers, verdict{reason: report.InsufficientResources, text: fmt.Sprintf("%d GPUs", i)})
	}
	told := heard(newSaid(), none, numbers...)
	require.Equal(t, []int{0, 60, 180, 420, 900, 1860}, told[:6])
	require.Len(t, told, 28)

	told = heard(newSaid(), none, repeated(day, numbers[0], verdict{reason: report.QueueCapacity, text: "quota"})...)
	require.Equal(t, []int{0, 11, 32, 73}, told[:4])
	require.Less(t, len(told), day/300)
}

// A thousand jobs that come together all wait for their pods, and then get stuck for a reason of each's own.
func TestEventsOfManyJobsThatPassThroughTogether(t *testing.T) {
	const jobs, sessions = 1000, 100
	s := newSaid()
	told := func(v verdict) (n int) {
		s.next()
		for i := range jobs {
			if s.tell(types.UID(strconv.Itoa(i)), none, v) {
				n++
			}
		}
		return n
	}
	sum := 0
	for range sessions {
		sum += told(verdict{reason: report.WaitingForPods, text: "no pods"})
	}
	require.Equal(t, passingAtOnce+(sessions-patience-1)/passingPause, sum)
	require.Greater(t, told(verdict{reason: report.InsufficientResources, text: "no room"}), jobs-passingAtOnce, "what jobs do not pass through is told of each")
}

func TestEventWhenAJobIsPlaced(t *testing.T) {
	s := newSaid()
	require.False(t, s.tellPlaced("job", none), "it never waited")
	require.Equal(t, []int{0}, heard(s, none, verdict{reason: report.InsufficientResources, text: "no room"}))
	require.True(t, s.tellPlaced("job", none))
	require.False(t, s.tellPlaced("job", none))
	require.True(t, newSaid().tellPlaced("job", pendingCondition(verdict{reason: report.InsufficientResources})), "another scheduler said that it waits")
}

func TestConditionIsWrittenWhenWordsChange(t *testing.T) {
	s := newSaid()
	first, second, third := verdict{reason: report.InsufficientResources, text: "a"}, verdict{reason: report.InsufficientResources, text: "b"}, verdict{reason: report.QueueCapacity, text: "b"}
	s.next()
	require.True(t, s.write("job", none, pendingCondition(first)))
	require.False(t, s.write("job", pendingCondition(first), pendingCondition(first)))
	for range refreshPause - 1 {
		s.next()
		require.False(t, s.write("job", pendingCondition(first), pendingCondition(second)), "the reason is the same")
	}
	require.True(t, s.write("job", pendingCondition(first), pendingCondition(third)), "the reason is another")
	for range refreshPause {
		s.next()
	}
	require.True(t, s.write("job", pendingCondition(third), pendingCondition(verdict{reason: report.QueueCapacity, text: "c"})))
	require.True(t, s.write("job", pendingCondition(third), placedCondition(third, verdict{})))
}

// Jobs come and go for ever; what is remembered of them does not grow.
func TestSaidIsBounded(t *testing.T) {
	s := newSaid()
	s.limit = 10
	for i := range 100 {
		s.next()
		s.tell(types.UID(strconv.Itoa(i)), none, verdict{reason: report.InsufficientResources})
		require.LessOrEqual(t, len(s.jobs), 10)
	}
	s.next()
	now := verdict{reason: report.InsufficientResources, text: "b"}
	require.False(t, s.tell("one too many", pendingCondition(verdict{reason: report.InsufficientResources, text: "a"}), now))
	require.False(t, s.write("one too many", pendingCondition(verdict{reason: report.InsufficientResources, text: "a"}), pendingCondition(now)))
	require.True(t, s.write("one too many", none, pendingCondition(now)))
	for range remembered + 1 {
		s.next()
	}
	require.Empty(t, s.jobs)
}
