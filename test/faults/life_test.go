// SPDX-License-Identifier: Apache-2.0

package faults_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
)

// life is what becomes of one job, to its end. A driver drives it from outside by what it sees and never by time, so that
// what breaks on the way cannot change the story.
type life struct {
	name  string
	job   v1.PaddleJobSpec
	drive func(*driver)
	// expires says that the controller deletes the job at the end.
	expires bool
	// twice are milestones that may be reached more often than in the undisturbed life.
	twice []string

	once sync.Once
	calm *past
}

// past is what a life left.
type past struct {
	objects map[string]string
	told    map[string]int
	// writes are those of the controller, in words.
	writes []string
}

// undisturbed is the past of a life in which nothing breaks; it is lived once.
func (l *life) undisturbed(t *testing.T) *past {
	t.Helper()
	l.once.Do(func() {
		space := cluster.NamespaceNamed(t, "undisturbed-"+l.name)
		c := startController(t, space, space)
		d := &driver{t: t, namespace: space}
		calm := &past{}
		l.live(d, func() { calm.objects, calm.told = d.settled(), d.told() })
		calm.writes = c.written()
		require.Positive(t, calm.told["Created"], "events: %v", calm.told)
		require.Positive(t, calm.told["Running"], "events: %v", calm.told)
		t.Logf("undisturbed, the life %q has %d writes: %v; events %v", l.name, len(calm.writes), calm.writes, calm.told)
		l.calm = calm
	})
	require.NotNil(t, l.calm, "the undisturbed life %q failed", l.name)
	return l.calm
}

// milestones are the reasons of events that tell what happened. What else is told is what a job waits for, and that may be
// more where something breaks.
var milestones = []string{"Created", "EnvironmentReady", "Running", "Restarting", "Completed", "Failed"}

// liveLike lives the life, and holds it to the undisturbed one: the same objects, no milestone told more often but for
// others, which what breaks may bring about. Where events are required, none is told less often.
func (l *life) liveLike(d *driver, calm *past, others ...string) {
	d.t.Helper()
	l.live(d, func() {
		d.awaitObjects("the objects of an undisturbed life", calm.objects)
		if d.events {
			d.wait("every milestone to be told", func(context.Context) error {
				told := d.told()
				for _, reason := range milestones {
					want := calm.told[reason]
					if slices.Contains(l.twice, reason) {
						want = min(want, 1) // the undisturbed life may be the one in which it is told once more
					}
					if told[reason] < want {
						return fmt.Errorf("%s is told %d times, and %d times at least are expected", reason, told[reason], want)
					}
				}
				return nil
			})
		}
		told := d.told()
		for _, reason := range milestones {
			if !slices.Contains(others, reason) && !slices.Contains(l.twice, reason) {
				require.LessOrEqual(d.t, told[reason], calm.told[reason], "events %s; all: %v", reason, told)
			}
		}
	})
}

// live lives a life in a namespace to its end, which judge looks at; then the job goes, and nothing is left.
func (l *life) live(d *driver, judge func()) {
	d.t.Helper()
	jobs := cluster.Paddle.BatchV1().PaddleJobs(d.namespace)
	job := &v1.PaddleJob{ObjectMeta: metav1.ObjectMeta{Namespace: d.namespace, Name: jobName}, Spec: *l.job.DeepCopy()}
	d.do("the job to be created", func(ctx context.Context) error {
		_, err := jobs.Create(ctx, job, metav1.CreateOptions{})
		return butFor(err, apierrors.IsAlreadyExists)
	})
	l.drive(d)
	judge()
	if l.expires {
		d.edit(func(job *v1.PaddleJob) { job.Spec.RunPolicy.TTLSecondsAfterFinished = ptr.To(int32(0)) })
	} else {
		d.do("the job to be deleted", func(ctx context.Context) error {
			return butFor(jobs.Delete(ctx, jobName, metav1.DeleteOptions{}), apierrors.IsNotFound)
		})
	}
	d.awaitObjects("nothing to be left", nil)
}
