// SPDX-License-Identifier: Apache-2.0

package job

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	batch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	"volcano.sh/volcano/pkg/scheduler/api"
)

func TestIsCompleting(t *testing.T) {
	type statuses = map[string]api.TaskStatus
	for name, test := range map[string]struct {
		statuses statuses
		ended    []string // of those that wait
	}{
		"all run":                 {statuses{"worker-1": api.Pending}, nil},
		"a worker has succeeded":  {statuses{"worker-0": api.Succeeded, "worker-1": api.Pending, "trainer-0": api.Pending}, []string{"job-trainer-0", "job-worker-1"}},
		"one of another task has": {statuses{"trainer-0": api.Succeeded, "worker-1": api.Pending}, []string{"job-worker-1"}},
		"a server may still come": {statuses{"worker-0": api.Succeeded, "ps-0": api.Pending, "heter-0": api.Pending, "board-0": api.Pending}, nil},
		"a server has":            {statuses{"ps-0": api.Succeeded, "worker-1": api.Pending}, nil},
		"what else there was has": {statuses{"board-0": api.Succeeded, "heter-0": api.Succeeded, "worker-1": api.Pending}, nil},
		"a worker has failed":     {statuses{"worker-0": api.Failed, "worker-1": api.Pending}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			job := inStatus(t, jobInfo(4, nil, map[string]int{"ps": 1, "heter": 1, "worker": 2, "trainer": 1, "board": 1}), test.statuses)
			var got []string
			for _, task := range InOrder(job) {
				if task.Status == api.Pending && IsCompleting(job, task, defaultTaskRoles) {
					got = append(got, task.Name)
				}
			}
			require.ElementsMatch(t, test.ended, got)
		})
	}
}

// A worker that failed after another had succeeded, and is started again alone.
func TestIsCompleting_StartedAgain(t *testing.T) {
	for name, test := range map[string]struct {
		servers  int
		attempts map[string]string
		ended    bool
	}{
		"with servers":             {1, map[string]string{"job-worker-1": "1"}, false},
		"the other too, later":     {1, map[string]string{"job-worker-0": "3", "job-worker-1": "4"}, false},
		"not started yet":          {1, nil, true},
		"of the same attempt":      {1, map[string]string{"job-worker-0": "1", "job-worker-1": "1", "job-worker-2": "1"}, true},
		"peers that it would miss": {0, map[string]string{"job-worker-1": "1"}, true},
		"an attempt that is none":  {1, map[string]string{"job-worker-1": "x"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			job := inStatus(t, jobInfo(2+int32(test.servers), map[string]int32{"worker": 2}, map[string]int{"ps": test.servers, "worker": 3}),
				map[string]api.TaskStatus{"worker-0": api.Succeeded, "worker-1": api.Pending})
			for _, task := range InOrder(job) {
				if n, set := test.attempts[task.Name]; set {
					metav1.SetMetaDataAnnotation(&task.Pod.ObjectMeta, batch.JobRetryCountKey, n)
				}
			}
			for _, task := range InOrder(job) {
				if task.Name == "job-worker-1" {
					require.Equal(t, test.ended, IsCompleting(job, task, defaultTaskRoles))
				}
			}
		})
	}
}

// A controller creates the pod again without counting that, for example one that deletes the failed pod.
func TestIsCompleting_Recreated(t *testing.T) {
	start := metav1.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for name, test := range map[string]struct {
		servers int
		created time.Duration // after the start of the one that has succeeded
		ended   bool
	}{
		"after the others had started":   {1, 8 * time.Second, false},
		"within the same second":         {1, 0, false},
		"with the others, and never run": {1, -3 * time.Second, true},
		"peers that it would miss":       {0, 8 * time.Second, true},
	} {
		t.Run(name, func(t *testing.T) {
			job := inStatus(t, jobInfo(2+int32(test.servers), map[string]int32{"worker": 2}, map[string]int{"ps": test.servers, "worker": 2}),
				map[string]api.TaskStatus{"worker-0": api.Succeeded, "worker-1": api.Pending})
			var again *api.TaskInfo
			for _, task := range InOrder(job) {
				switch task.Name {
				case "job-worker-0":
					task.Pod.Status.StartTime = &start
				case "job-worker-1":
					task.Pod.CreationTimestamp = metav1.NewTime(start.Add(test.created))
					again = task
				}
			}
			require.Equal(t, test.ended, IsCompleting(job, again, defaultTaskRoles))
		})
	}
}

// The gang is whole with the workers that are there; servers are needed as before.
func TestRelaxForCompletion(t *testing.T) {
	type statuses = map[string]api.TaskStatus
	for name, test := range map[string]struct {
		statuses  statuses
		want      Gang
		minMember int32
	}{
		"all run": {statuses{"worker-2": api.Pending}, Gang{{"ps", Server, 2}, {"worker", Worker, 3}}, 6},
		"one has succeeded, one waits": {
			statuses{"worker-0": api.Succeeded, "worker-2": api.Pending, "ps-0": api.Pending}, Gang{{"ps", Server, 2}, {"worker", Worker, 2}}, 4,
		},
		"one has succeeded, the others run": {statuses{"worker-0": api.Succeeded}, Gang{{"ps", Server, 2}, {"worker", Worker, 3}}, 5},
	} {
		t.Run(name, func(t *testing.T) {
			job := inStatus(t, jobInfo(6, map[string]int32{"ps": 2, "worker": 3}, map[string]int{"ps": 2, "worker": 3}), test.statuses)
			g := NewGang(job, defaultTaskRoles)
			g.RelaxForCompletion(job, defaultTaskRoles)
			require.Equal(t, test.want, g)
			require.Equal(t, test.minMember, job.MinAvailable)
		})
	}
}
