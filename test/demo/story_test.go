// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var (
	trains = Job{Name: "trains", Mode: "PS", Roles: []Role{{"ps", 1}, {"worker", 2}}}
	waits  = Job{Name: "waits", Mode: "PS", Roles: []Role{{"ps", 1}, {"worker", 2}}, Stays: true}
)

// placed returns a story in which every pod of the job is bound to the node.
func placed(job Job, node string) *Story {
	story := NewStory(job, 0)
	for _, role := range job.Roles {
		for i := range role.Pods {
			story.SeePod(Pod{Name: podName(role.Name, i), Role: role.Name, Node: node})
		}
	}
	return story
}

func podName(role string, i int) string { return "job-" + role + "-" + string(rune('0'+i)) }

func TestSeeStatusTellsEachChangeOnce(t *testing.T) {
	story := NewStory(trains, 2*time.Second)
	steps := []struct {
		name string
		now  Status
		want []string
	}{
		{name: "nothing known yet", now: Status{}},
		{name: "first phase", now: Status{Mode: "PS", Phase: "Pending"}, want: []string{"Pending"}},
		{name: "same again", now: Status{Mode: "PS", Phase: "Pending"}},
		{name: "a reason", now: Status{Mode: "PS", Phase: "Pending", Reason: "no room"}, want: []string{"Pending: no room"}},
		{name: "the same reason", now: Status{Mode: "PS", Phase: "Pending", Reason: "no room"}},
		{name: "the reason goes", now: Status{Mode: "PS", Phase: "Pending"}},
		{name: "another phase", now: Status{Mode: "PS", Phase: "Running"}, want: []string{"Running"}},
		{name: "the end", now: Status{Mode: "PS", Phase: "Completed"}, want: []string{"Completed"}},
	}
	for i, step := range steps {
		at := time.Duration(3+i) * time.Second
		require.Equal(t, step.want, story.SeeStatus(at, step.now), step.name)
	}
	require.Equal(t, 10*time.Second, story.Ended)
	story.SeeStatus(time.Hour, Status{Mode: "PS", Phase: "Completed"})
	require.Equal(t, 10*time.Second, story.Ended, "a job ends once")
}

func TestEveryEndPhaseEndsTheStory(t *testing.T) {
	for phase, ends := range map[string]bool{
		"Completed": true, "Failed": true, "Terminated": true, "Aborted": true,
		"Pending": false, "Running": false, "Restarting": false, "Completing": false, "Terminating": false,
	} {
		story := NewStory(trains, 0)
		story.SeeStatus(time.Second, Status{Phase: phase})
		require.Equal(t, ends, story.Settled(), phase)
	}
}

func TestSeePodTellsWhenTheWholeGangIsPlaced(t *testing.T) {
	story := NewStory(trains, 0)
	require.Empty(t, story.SeePod(Pod{Name: "job-ps-0", Role: "ps"}), "not bound")
	require.Empty(t, story.SeePod(Pod{Name: "job-ps-0", Role: "ps", Node: "a"}), "one of three")
	require.Empty(t, story.SeePod(Pod{Name: "job-worker-0", Role: "worker", Node: "a"}), "two of three")
	require.Equal(t, []string{"gang of 3 placed"}, story.SeePod(Pod{Name: "job-worker-1", Role: "worker", Node: "b"}))
	require.Empty(t, story.SeePod(Pod{Name: "job-worker-1", Role: "worker", Node: "c"}), "told once")
	require.Empty(t, story.SeePod(Pod{Name: "job-worker-1", Role: "worker"}), "made anew")
	require.Equal(t, []Pod{{"job-worker-0", "worker", "a"}, {"job-worker-1", "worker", "c"}}, story.PodsOf("worker"), "a pod made anew keeps its last place")
}

func TestPodsOfRoleStandInTheOrderOfTheirIndices(t *testing.T) {
	story := NewStory(trains, 0)
	for _, name := range []string{"job-worker-10", "job-worker-2", "job-worker-1"} {
		story.SeePod(Pod{Name: name, Role: "worker"})
	}
	story.SeePod(Pod{Name: "job-ps-0", Role: "ps"})
	var names []string
	for _, pod := range story.PodsOf("worker") {
		names = append(names, pod.Name)
	}
	require.Equal(t, []string{"job-worker-1", "job-worker-2", "job-worker-10"}, names)
}

func TestJobThatMustStayIsSettledOnceItsPodsAndItsReasonAreThere(t *testing.T) {
	story := NewStory(waits, 0)
	for _, name := range []string{"job-ps-0", "job-worker-0", "job-worker-1"} {
		story.SeeStatus(0, Status{Phase: "Pending", Reason: "no room"})
		require.False(t, story.Settled(), "pods are missing")
		story.SeePod(Pod{Name: name, Role: "worker"})
	}
	require.True(t, story.Settled())
	story.SeeStatus(0, Status{Phase: "Pending"})
	require.False(t, story.Settled(), "no reason")
}

func TestJobThatMustStayIsSettledOnceItWentWrong(t *testing.T) {
	story := NewStory(waits, 0)
	want := "pod job-ps-0 was bound to a although its gang does not fit"
	require.Equal(t, []string{want}, story.SeePod(Pod{Name: "job-ps-0", Role: "ps", Node: "a"}))
	require.True(t, story.Settled(), "a pod was bound")

	story = NewStory(waits, 0)
	story.SeeStatus(time.Second, Status{Phase: "Failed"})
	require.True(t, story.Settled(), "it ended")
}
