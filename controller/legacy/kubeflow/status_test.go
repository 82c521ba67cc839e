// SPDX-License-Identifier: Apache-2.0

package kubeflow

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	batchv1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	kubeflowv1 "github.com/paddle-volcano/paddle-volcano/controller/api/kubeflow/v1"
)

// life is a job of which one thing after another is seen.
type life struct {
	t        *testing.T
	job      *kubeflowv1.PaddleJob
	made     *batchv1.PaddleJob
	now      time.Time
	warnings []string
}

func begin(t *testing.T, with ...change) *life {
	t.Helper()
	l := &life{t: t, job: job(with...), now: at}
	l.made = madeFor(l.job)
	l.seen()
	return l
}

// seen writes the status of what is there now, and keeps its events.
func (l *life) seen(conditions ...func(*batchv1.PaddleJob)) *kubeflowv1.JobStatus {
	l.t.Helper()
	l.now = l.now.Add(time.Second)
	if l.made != nil {
		for _, c := range conditions {
			c(l.made)
		}
	}
	v := &State{Now: l.now, Job: l.job, Named: l.made}
	plan := Decide(v, false)
	next := Next(v, &plan)
	for _, e := range Events(&l.job.Status, next, plan.Warnings) {
		l.warnings = append(l.warnings, e.Type+" "+e.Reason)
	}
	l.job.Status = *next
	require.Empty(l.t, Events(next, Next(v, &plan), plan.Warnings), "no event is repeated")
	return next
}

// state is what kubectl shows, and all conditions that hold.
func state(status *kubeflowv1.JobStatus) (last string, hold []string) {
	for _, c := range status.Conditions {
		last = c.Type
		if c.Status == corev1.ConditionTrue {
			hold = append(hold, last)
		}
	}
	return last, hold
}

func (l *life) requireState(hold ...string) {
	l.t.Helper()
	last, all := state(&l.job.Status)
	require.Equal(l.t, hold, all)
	require.Equal(l.t, hold[len(hold)-1], last, "what holds stands last, and the last of that is what kubectl shows")
}

// replaced is a condition of the PaddleJob in the place of the one that it had.
func replaced(kind string, is bool, reason, message string) func(*batchv1.PaddleJob) {
	return func(made *batchv1.PaddleJob) {
		var others []metav1.Condition
		for _, c := range made.Status.Conditions {
			if c.Type != kind {
				others = append(others, c)
			}
		}
		made.Status.Conditions = others
		says(kind, is, reason, message)(made)
	}
}

func training(running int32) func(*batchv1.PaddleJob) {
	return func(made *batchv1.PaddleJob) {
		made.Status.Worker = &batchv1.ResourceStatus{Running: running, Failed: 2 - running}
		replaced(batchv1.ConditionRunning, running == 2, "x", "")(made)
	}
}

func TestLifeOfAJobThatSucceeds(t *testing.T) {
	t.Parallel()
	l := begin(t)
	l.requireState("Created")
	require.Equal(t, "PaddleJob train is created.", find(&l.job.Status, batchv1.ConditionCreated).Message)
	require.Nil(t, l.job.Status.StartTime)
	require.Equal(t, map[kubeflowv1.ReplicaType]*kubeflowv1.ReplicaStatus{kubeflowv1.Worker: {
		Selector: "training.kubeflow.org/job-name=train,training.kubeflow.org/operator-name=paddlejob-controller,training.kubeflow.org/replica-type=worker",
	}}, l.job.Status.ReplicaStatuses)

	l.seen(replaced(batchv1.ConditionScheduled, false, "WaitingForQueue", `queue "gold" is full`))
	require.Equal(t, `WaitingForQueue: queue "gold" is full`, find(&l.job.Status, batchv1.ConditionCreated).Message)
	require.Equal(t, "PaddleJobCreated", find(&l.job.Status, batchv1.ConditionCreated).Reason)
	l.seen(replaced(batchv1.ConditionLauncherUsable, false, "AddressPrefix", "10.0.0.1 is a prefix of 10.0.0.12. Set spec.intranet: Service, or more"))
	require.Equal(t, `WaitingForQueue: queue "gold" is full; AddressPrefix: 10.0.0.1 is a prefix of 10.0.0.12. `+
		`Have the controller started with --default-intranet=Service, or more`, find(&l.job.Status, batchv1.ConditionCreated).Message)
	l.seen(replaced(batchv1.ConditionLauncherUsable, true, "None", ""))
	l.seen(replaced(batchv1.ConditionScheduled, false, "Placing", "a moment"))
	require.Equal(t, "PaddleJob train is created.", find(&l.job.Status, batchv1.ConditionCreated).Message)

	l.seen(training(2), func(made *batchv1.PaddleJob) { made.Status.StartTime = ago(time.Hour) })
	l.requireState("Created", "Running")
	require.Equal(t, ago(time.Hour), l.job.Status.StartTime)
	require.Nil(t, l.job.Status.CompletionTime)
	require.EqualValues(t, 2, l.job.Status.ReplicaStatuses[kubeflowv1.Worker].Active)

	l.seen(training(1), replaced(batchv1.ConditionRestarting, true, "PodFailed", "restart 1 of 2: train-worker-1 exited with code 7"))
	l.requireState("Created", "Restarting")
	require.Equal(t, "PaddleJobRestarting", find(&l.job.Status, batchv1.ConditionRunning).Reason)
	l.seen(replaced(batchv1.ConditionRestarting, true, "PodFailed", "restart 2 of 2: train-worker-0 exited with code 7"))
	l.seen(training(2), replaced(batchv1.ConditionRestarting, false, "Restarted", ""))
	l.requireState("Created", "Running")

	l.seen(func(made *batchv1.PaddleJob) {
		made.Status.Worker = &batchv1.ResourceStatus{Succeeded: 2}
		made.Status.CompletionTime = ago(time.Minute)
	}, replaced(batchv1.ConditionRunning, false, "Completed", ""), says(batchv1.ConditionSucceeded, true, "WorkersSucceeded", ""))
	l.requireState("Created", "Succeeded")
	require.Equal(t, ago(time.Minute), l.job.Status.CompletionTime)
	succeeded := l.job.Status.DeepCopy()
	require.EqualValues(t, 2, succeeded.ReplicaStatuses[kubeflowv1.Worker].Succeeded)

	l.made.Status.Worker = &batchv1.ResourceStatus{}
	require.Equal(t, succeeded, l.seen(), "pods that are cleaned away have succeeded all the same")
	l.made = nil
	require.Equal(t, succeeded, l.seen(), "and so has a job whose PaddleJob is deleted")
	require.Equal(t, []string{
		"Normal PaddleJobCreated", "Normal PaddleJobRunning", "Warning PaddleJobRestarting", "Warning PaddleJobRestarting",
		"Normal PaddleJobRunning", "Normal PaddleJobSucceeded",
	}, l.warnings)
}

func TestLifeOfAJobThatFails(t *testing.T) {
	t.Parallel()
	l := begin(t, servers)
	l.seen(training(2))
	l.seen(training(0), func(made *batchv1.PaddleJob) { made.Status.PS = &batchv1.ResourceStatus{Running: 1, Failed: 3} },
		replaced(batchv1.ConditionRestarting, true, "PodFailed", "again"))
	require.Equal(t, kubeflowv1.ReplicaStatus{
		Active: 1, Failed: 3, Selector: "training.kubeflow.org/job-name=train,training.kubeflow.org/job-role=master," +
			"training.kubeflow.org/operator-name=paddlejob-controller,training.kubeflow.org/replica-type=master",
	}, *l.job.Status.ReplicaStatuses[kubeflowv1.Master])
	l.seen(says(batchv1.ConditionFailed, true, "PodFailed", "train-worker-0 exited with code 7"))
	l.requireState("Created", "Failed")
	failed := find(&l.job.Status, batchv1.ConditionFailed)
	require.Equal(t, "PaddleJobFailed", failed.Reason)
	require.Equal(t, "train-worker-0 exited with code 7", failed.Message)
	require.Equal(t, metav1.NewTime(l.now), *l.job.Status.CompletionTime, "where its PaddleJob does not say when")
	require.Zero(t, l.job.Status.ReplicaStatuses[kubeflowv1.Master].Active, "nothing of it runs on")
	require.EqualValues(t, 3, l.job.Status.ReplicaStatuses[kubeflowv1.Master].Failed)
	require.Equal(t, "Warning PaddleJobFailed", l.warnings[len(l.warnings)-1])
}

func TestSuspendAndResume(t *testing.T) {
	t.Parallel()
	l := begin(t)
	l.seen(training(2))
	l.seen(replaced(batchv1.ConditionSuspended, true, "Suspending", ""), replaced(batchv1.ConditionRunning, false, "Suspended", ""),
		func(made *batchv1.PaddleJob) { made.Status.Worker = &batchv1.ResourceStatus{} })
	l.requireState("Created", "Suspended")
	require.Zero(t, l.job.Status.ReplicaStatuses[kubeflowv1.Worker].Active)
	require.Equal(t, "PaddleJobSuspended", find(&l.job.Status, batchv1.ConditionRunning).Reason)
	l.seen(replaced(batchv1.ConditionSuspended, false, "Resumed", ""))
	l.requireState("Created")
	l.seen(training(2))
	require.Equal(t, []string{
		"Normal PaddleJobCreated", "Normal PaddleJobRunning", "Normal PaddleJobSuspended", "Normal PaddleJobResumed", "Normal PaddleJobRunning",
	}, l.warnings)
}

func TestStalled(t *testing.T) {
	t.Parallel()
	l := begin(t)
	l.seen(replaced(batchv1.ConditionStalled, true, "QueueNotFound", `spec.schedulingPolicy.queue "x" does not exist`))
	l.requireState("Created", "Stalled")
	stalled := find(&l.job.Status, batchv1.ConditionStalled)
	require.Equal(t, `spec.runPolicy.schedulingPolicy.queue "x" does not exist`, stalled.Message)
	since := stalled.LastTransitionTime
	l.seen(replaced(batchv1.ConditionStalled, true, "QueueNotOpen", "it is closed"))
	stalled = find(&l.job.Status, batchv1.ConditionStalled)
	require.Equal(t, since, stalled.LastTransitionTime, "it was stalled all the time")
	require.NotEqual(t, since, stalled.LastUpdateTime)
	l.seen(replaced(batchv1.ConditionStalled, false, "Proceeding", ""))
	l.requireState("Created")
	require.Equal(t, []string{"Normal PaddleJobCreated", "Warning QueueNotFound", "Warning QueueNotOpen"}, l.warnings)
}

func TestAJobThatCannotBeMade(t *testing.T) {
	t.Parallel()
	l := &life{t: t, job: job(restarts("Sometimes")), now: at}
	l.seen()
	l.requireState("Stalled")
	require.Equal(t, ReasonInvalidRestartPolicy, find(&l.job.Status, batchv1.ConditionCreated).Reason)
	require.Equal(t, []string{"Warning InvalidRestartPolicy"}, l.warnings)
	first := l.job.Status.DeepCopy()
	require.Equal(t, first, l.seen(), "no later than the first time")

	worker(l.job).RestartPolicy = ""
	l.made = madeFor(l.job)
	l.seen()
	l.requireState("Created")
	require.Equal(t, []string{"Warning InvalidRestartPolicy", "Normal PaddleJobCreated"}, l.warnings)
}

func TestWaitingForAPredecessor(t *testing.T) {
	t.Parallel()
	l := &life{t: t, job: job(), now: at}
	l.made = madeFor(l.job, ofAnother(owner("PaddleJob", "train")))
	l.seen()
	created := find(&l.job.Status, batchv1.ConditionCreated)
	require.Equal(t, corev1.ConditionFalse, created.Status)
	require.Equal(t, "WaitingForPredecessor", created.Reason)
	require.Empty(t, l.warnings)
}

// Its PaddleJob was deleted by somebody while it ran.
func TestThePastIsKept(t *testing.T) {
	t.Parallel()
	l := begin(t)
	l.seen(training(2), func(made *batchv1.PaddleJob) { made.Status.StartTime = ago(time.Hour) })
	l.made = nil
	l.seen()
	l.requireState("Created")
	require.Equal(t, ago(time.Hour), l.job.Status.StartTime)
	require.Zero(t, l.job.Status.ReplicaStatuses[kubeflowv1.Worker].Active)
	l.made = madeFor(l.job, func(made *batchv1.PaddleJob) { made.Status.StartTime = ago(0) })
	l.seen()
	require.Equal(t, ago(time.Hour), l.job.Status.StartTime)
}

func TestWarningsAndChangesAreReported(t *testing.T) {
	t.Parallel()
	l := begin(t, restarts("Always"))
	require.Equal(t, []string{"Normal PaddleJobCreated", "Warning RestartPolicyChanged"}, l.warnings)
	l.seen(replaced(batchv1.ConditionCreated, true, "VolcanoJobCreated", "spec.worker: a warning"))
	created := find(&l.job.Status, batchv1.ConditionCreated)
	require.Contains(t, created.Message, "Always is treated as OnFailure")
	require.Contains(t, created.Message, "; spec.paddleReplicaSpecs.Worker: a warning")
	l.seen(replaced(batchv1.ConditionCreated, true, "SpecChangeNotApplied", "too late"))
	require.Equal(t, "SpecChangeNotApplied", find(&l.job.Status, batchv1.ConditionCreated).Reason)
	worker(l.job).RestartPolicy = "Sometimes"
	l.seen()
	require.Equal(t, "SpecChangeRefused", find(&l.job.Status, batchv1.ConditionCreated).Reason)
	require.Equal(t, []string{"Warning SpecChangeNotApplied", "Warning SpecChangeRefused"}, l.warnings[2:])
	l.requireState("Created")
}

func TestStatusIsLeftAlone(t *testing.T) {
	t.Parallel()
	other := "kueue.x-k8s.io/multikueue"
	for name, with := range map[string]change{
		"of a job that another controller looks after": func(j *kubeflowv1.PaddleJob) { j.Spec.RunPolicy.ManagedBy = &other },
		"of a job that is being deleted":               func(j *kubeflowv1.PaddleJob) { j.DeletionTimestamp = ago(0) },
	} {
		v := &State{Now: at, Job: job(with), Named: madeFor(job(), says(batchv1.ConditionFailed, true, "x", "y"))}
		plan := Decide(v, false)
		require.Empty(t, Next(v, &plan), name)
	}
	// As Kubeflow's operator left it.
	v := &State{Now: at, Job: job(ended(batchv1.ConditionSucceeded, 0), func(j *kubeflowv1.PaddleJob) {
		j.Status.LastReconcileTime = ago(time.Hour)
		j.Status.ReplicaStatuses = map[kubeflowv1.ReplicaType]*kubeflowv1.ReplicaStatus{kubeflowv1.Worker: {Succeeded: 2}}
	})}
	plan := Decide(v, false)
	require.Equal(t, v.Job.Status, *Next(v, &plan))
}

// A job that has finished needs no other spec, and its status says nothing of one.
func TestTheSpecOfAFinishedJobIsNotReported(t *testing.T) {
	t.Parallel()
	for name, v := range map[string]*State{
		"cannot run": {Now: at, Job: job(ended(batchv1.ConditionSucceeded, 0), restarts("Sometimes")), Named: madeFor(job())},
		"is refused": {Now: at, Job: job(ended(batchv1.ConditionSucceeded, 0)), Named: madeFor(job(servers)), Refusal: "no"},
	} {
		plan := Decide(v, false)
		require.NotNil(t, plan.SpecNotSynced, name)
		next := Next(v, &plan)
		require.Equal(t, v.Job.Status.Conditions, next.Conditions, name)
		require.Empty(t, Events(&v.Job.Status, next, plan.Warnings), name)
	}
}
