// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"context"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcbus "volcano.sh/apis/pkg/apis/bus/v1alpha1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

// missed is what happens to a job of two servers and two workers while the controller is down.
type missed struct {
	with    []change
	happens func(t *testing.T, job *v1.PaddleJob)
	judge   func(t *testing.T, job *v1.PaddleJob, before *past)
}

// past is what a job had before the controller was down.
type past struct {
	job         *v1.PaddleJob
	environment *corev1.ConfigMap
}

//nolint:tparallel // the controller is down for all cases at once
func TestControllerIsDown(t *testing.T) {
	workers := []string{"missed-worker-0", "missed-worker-1"}
	cases := map[string]missed{
		"pods fail": {
			with:    []change{backoff(1)},
			happens: func(t *testing.T, job *v1.PaddleJob) { failWorkers(t, job, workers) },
			judge: func(t *testing.T, job *v1.PaddleJob, _ *past) {
				again := awaitRestarted(t, job, 1)
				require.EqualValues(t, 1, again.Status.Failures)
				endPods(t, job.Namespace, "0", workers...)
				awaitPhase(t, job, v1.Completed)
			},
		},
		"all pods fail": {
			with:    []change{func(job *v1.PaddleJob) { job.Spec.PS = nil }},
			happens: func(t *testing.T, job *v1.PaddleJob) { failWorkers(t, job, workers) },
			judge: func(t *testing.T, job *v1.PaddleJob, _ *past) {
				for restarts := range int32(2) {
					awaitRestarted(t, job, restarts+1)
					endPods(t, job.Namespace, "7", workers[0])
				}
				failed := awaitPhase(t, job, v1.Failed)
				require.EqualValues(t, 2, failed.Status.Restarts)
				require.EqualValues(t, 2, failed.Status.Failures)
				require.Regexp(t, `missed-worker-[01] exited with code 7; the job had been restarted twice before`, failedReason(failed))
				awaitNoPodGroups(t, job.Namespace)
			},
		},
		"a pod is evicted": {
			with: []change{backoff(0)},
			happens: func(t *testing.T, job *v1.PaddleJob) {
				require.NoError(t, cluster.Kube.CoreV1().Pods(job.Namespace).Delete(t.Context(), "missed-ps-0", metav1.DeleteOptions{}))
				awaitVolcanoRestart(t, job)
			},
			judge: func(t *testing.T, job *v1.PaddleJob, before *past) {
				environment := awaitEnvironment(t, job, before.environment.Annotations[v1.GangAnnotation])
				require.NotEqual(t, before.environment.Data["PADDLE_TRAINER_ENDPOINTS"], environment.Data["PADDLE_TRAINER_ENDPOINTS"])
				again := awaitRestarted(t, job, 1)
				require.Zero(t, again.Status.Failures)
				require.Equal(t, before.job.Status.StartTime, again.Status.StartTime, "the time when the gang first ran")
			},
		},
		"a program fails as its pod is evicted": {
			with:    []change{backoff(0)},
			happens: evictFailingProgram,
			judge: func(t *testing.T, job *v1.PaddleJob, _ *past) {
				require.Zero(t, awaitRestarted(t, job, 1).Status.Failures)
			},
		},
		"the Volcano Job is aborted": {
			with: []change{backoff(5)},
			happens: func(t *testing.T, job *v1.PaddleJob) {
				vcjob := awaitVolcanoJob(t, job, nil)
				command(t, vcjob, "AbortJob")
				awaitVolcanoPhase(t, vcjob, func(job *vcbatch.Job) bool { return job.Status.State.Phase == vcbatch.Aborted })
			},
			judge: func(t *testing.T, job *v1.PaddleJob, _ *past) { awaitAborted(t, job) },
		},
	}
	jobs, before := map[string]*v1.PaddleJob{}, map[string]*past{}
	for name, tc := range cases {
		jobs[name] = create(t, psJob(cluster.NamespaceNamed(t, t.Name()+" "+name), "missed", tc.with...))
	}
	for name, job := range jobs {
		before[name] = &past{job: awaitPhase(t, job, v1.Running), environment: awaitEnvironment(t, job, "")}
	}
	start := down(t, sandbox.Controller, syscall.SIGKILL)
	require.True(t, t.Run("while it is down", func(t *testing.T) {
		for name, tc := range cases {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				tc.happens(t, jobs[name])
			})
		}
	}))
	start()
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tc.judge(t, jobs[name], before[name])
		})
	}
}

// failWorkers makes workers exit with an error. Volcano's Job keeps running until the controller acts, but Volcano may fail one without
// servers, whose pods have all failed before Volcano looked at the first.
func failWorkers(t *testing.T, job *v1.PaddleJob, workers []string) {
	t.Helper()
	endPods(t, job.Namespace, "7", workers...)
	for _, name := range workers {
		cluster.Await(t, "pod "+name+" to fail", func(ctx context.Context) error {
			pod, err := cluster.Kube.CoreV1().Pods(job.Namespace).Get(ctx, name, metav1.GetOptions{})
			if err == nil && pod.Status.Phase != corev1.PodFailed {
				err = fmt.Errorf("it is %s", pod.Status.Phase)
			}
			return err
		})
	}
	phase := awaitVolcanoJob(t, job, nil).Status.State.Phase
	if job.Spec.PS == nil && phase == vcbatch.Failed {
		return
	}
	require.Equal(t, vcbatch.Running, phase)
}

// A program that receives SIGTERM may fail, and so may its peers, before its pod is gone.
func evictFailingProgram(t *testing.T, job *v1.PaddleJob) {
	t.Helper()
	pods := cluster.Kube.CoreV1().Pods(job.Namespace)
	finalizers := func(list string) {
		t.Helper()
		patch := fmt.Appendf(nil, `{"metadata":{"finalizers":%s}}`, list)
		_, err := pods.Patch(t.Context(), "missed-worker-0", types.MergePatchType, patch, metav1.PatchOptions{})
		require.NoError(t, err)
	}
	finalizers(`["paddle-volcano.test/stays"]`)
	require.NoError(t, pods.Delete(t.Context(), "missed-worker-0", metav1.DeleteOptions{}))
	setPhase(t, job.Namespace, "missed-worker-0", corev1.PodFailed)
	setPhase(t, job.Namespace, "missed-worker-1", corev1.PodFailed)
	finalizers(`null`)
	awaitVolcanoRestart(t, job)
}

// awaitVolcanoRestart waits until Volcano has started a job's gang again.
func awaitVolcanoRestart(t *testing.T, job *v1.PaddleJob) {
	t.Helper()
	awaitVolcanoPhase(t, awaitVolcanoJob(t, job, nil), func(job *vcbatch.Job) bool {
		return job.Status.RetryCount == 1 && job.Status.State.Phase == vcbatch.Running
	})
}

// command creates a Command for Volcano, as vcctl does.
func command(t *testing.T, vcjob *vcbatch.Job, action string) {
	t.Helper()
	owner := metav1.NewControllerRef(vcjob, vcbatch.SchemeGroupVersion.WithKind("Job"))
	_, err := cluster.Volcano.BusV1alpha1().Commands(vcjob.Namespace).Create(t.Context(), &vcbus.Command{
		ObjectMeta:   metav1.ObjectMeta{GenerateName: "by-hand-", OwnerReferences: []metav1.OwnerReference{*owner}},
		Action:       action,
		TargetObject: owner,
	}, metav1.CreateOptions{})
	require.NoError(t, err)
}

// awaitAborted waits until a job says that its Volcano Job was aborted by hand, and it is not started again.
func awaitAborted(t *testing.T, job *v1.PaddleJob) {
	t.Helper()
	awaitCondition(t, job, v1.ConditionStalled, metav1.ConditionTrue, "Aborted")
	awaitSyncs(t, 5)
	awaitPods(t, job, nil)
}

// Not parallel, like every test that ends a component.
func TestControllerRestartedInTheMiddle(t *testing.T) {
	job := create(t, psJob(cluster.Namespace(t), "middle"))
	awaitPhase(t, job, v1.Running)
	awaitEvent(t, job, corev1.EventTypeNormal, "Running")
	before, err := eventsOf(t.Context(), job)
	require.NoError(t, err)
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		down(t, sandbox.Controller, signal)()
		cluster.Await(t, "the controller to be back", func(ctx context.Context) error {
			_, err := syncs(ctx)
			return err
		})
		awaitSyncs(t, 5)
	}
	after, err := eventsOf(t.Context(), job)
	require.NoError(t, err)
	require.Equal(t, reasonsOf(before), reasonsOf(after), "no event is emitted again")
	require.NoError(t, cluster.Kube.CoreV1().Pods(job.Namespace).Delete(t.Context(), "middle-ps-1", metav1.DeleteOptions{}))
	awaitRestarted(t, job, 1)
}

// awaitRestarted waits until a job runs after a number of restarts.
func awaitRestarted(t *testing.T, job *v1.PaddleJob, restarts int32) *v1.PaddleJob {
	t.Helper()
	return awaitJob(t, job, fmt.Sprintf("running after %d restarts", restarts), func(job *v1.PaddleJob) bool {
		return job.Status.Phase == v1.Running && job.Status.Restarts == restarts
	})
}

func awaitVolcanoPhase(t *testing.T, job *vcbatch.Job, want func(*vcbatch.Job) bool) {
	t.Helper()
	cluster.Await(t, "the Volcano Job to continue", func(ctx context.Context) error {
		fresh, err := cluster.Volcano.BatchV1alpha1().Jobs(job.Namespace).Get(ctx, job.Name, metav1.GetOptions{})
		if err == nil && !want(fresh) {
			err = fmt.Errorf("it is %s after %d failures", fresh.Status.State.Phase, fresh.Status.RetryCount)
		}
		return err
	})
}

// Volcano's controllers act on events of pods. They missed the success of the workers of one job, the failure of those of
// another, and the eviction of one of a third.
func TestVolcanoIsDown(t *testing.T) {
	evicted := create(t, psJob(cluster.NamespaceNamed(t, "volcano-misses-an-eviction"), "evicted", backoff(0)))
	running := awaitPhase(t, evicted, v1.Running)
	before := podUIDs(t, evicted.Namespace)
	ends := create(t, psJob(cluster.Namespace(t), "ends", workersRunFor("4s")))
	fails := create(t, psJob(cluster.NamespaceNamed(t, "volcano-misses-failures"), "fails", workersRunFor("4s"), workersFail("7", "0")))
	awaitPhase(t, ends, v1.Running)
	awaitPhase(t, fails, v1.Running)
	start := down(t, sandbox.VolcanoController, syscall.SIGKILL)
	require.NoError(t, cluster.Kube.CoreV1().Pods(evicted.Namespace).Delete(t.Context(), "evicted-worker-0", metav1.DeleteOptions{}))
	awaitPods(t, evicted, []string{"evicted-ps-0", "evicted-ps-1", "evicted-worker-1"})
	cluster.Await(t, "more time to pass than the clocks of API servers may differ", func(context.Context) error {
		if age := time.Since(running.Status.StartTime.Time); age < 12*time.Second {
			return fmt.Errorf("the gang has run for %s", age)
		}
		return nil
	})
	awaitJob(t, ends, "without running workers", func(job *v1.PaddleJob) bool { return job.Status.Worker.Succeeded == 2 })
	awaitJob(t, fails, "with failed workers", func(job *v1.PaddleJob) bool { return job.Status.Worker.Failed == 2 })
	start()
	require.EqualValues(t, 1, awaitPhase(t, fails, v1.Completed).Status.Restarts)
	t.Parallel() // the controller leaves Volcano 30 seconds to see the end, or to start the gang again
	require.Zero(t, awaitRestarted(t, evicted, 1).Status.Failures)
	for name, uid := range podUIDs(t, evicted.Namespace) {
		require.NotEqual(t, before[name], uid, "%s runs with the addresses of an earlier attempt", name)
	}
	require.Equal(t, "0/2", awaitPhase(t, ends, v1.Completed).Status.PS.Ready)
	awaitPods(t, ends, []string{"ends-worker-0", "ends-worker-1"})
}

// down ends a component and returns how to start it again, which the end of the test does at the latest.
func down(t *testing.T, component string, signal syscall.Signal) (up func()) {
	t.Helper()
	require.NoError(t, cluster.Kill(component, signal))
	started := false
	up = func() {
		if !started {
			started = true
			if component == sandbox.Controller { // which would wait for the lease of one that was killed
				leases := cluster.Kube.CoordinationV1().Leases("paddle-system")
				require.NoError(t, leases.DeleteCollection(context.Background(), metav1.DeleteOptions{}, metav1.ListOptions{}))
			}
			require.NoError(t, cluster.StartComponent(component))
		}
	}
	t.Cleanup(up)
	return up
}

// awaitPodGroup waits for a job's PodGroup, and for more of it where wanted.
func awaitPodGroup(t *testing.T, job *v1.PaddleJob, want func(*vcscheduling.PodGroup) bool) *vcscheduling.PodGroup {
	t.Helper()
	name := job.Name + "-" + string(awaitVolcanoJob(t, job, nil).UID)
	var found *vcscheduling.PodGroup
	cluster.Await(t, "the PodGroup of "+job.Name, func(ctx context.Context) error {
		group, err := cluster.Volcano.SchedulingV1beta1().PodGroups(job.Namespace).Get(ctx, name, metav1.GetOptions{})
		if err == nil && want != nil && !want(group) {
			err = fmt.Errorf("it is %v", group)
		}
		found = group
		return err
	})
	return found
}

// managers returns those that ever wrote a part of an object other than its status.
func managers(object metav1.Object) []string {
	var names []string
	for _, entry := range object.GetManagedFields() {
		if entry.Subresource == "" {
			names = append(names, entry.Manager+" "+string(entry.Operation))
		}
	}
	return names
}

// Either controller may be the first to create the PodGroup of a Volcano Job. Not parallel: each is down for a while.
func TestPodGroupRace(t *testing.T) {
	startVolcano := down(t, sandbox.VolcanoController, syscall.SIGTERM)
	// Pods that never fit keep the scheduler from touching more than the status.
	first := create(t, psJob(cluster.Namespace(t), "race", onNodes("none.has/this")))
	second := create(t, psJob(cluster.NamespaceNamed(t, "volcano-first"), "race", onNodes("none.has/this")))
	paddles, lost := awaitPodGroup(t, first, nil), awaitPodGroup(t, second, nil)
	require.Contains(t, managers(paddles), "paddlejob-controller Update")
	startPaddles := down(t, sandbox.Controller, syscall.SIGTERM)
	require.NoError(t, cluster.Volcano.SchedulingV1beta1().PodGroups(second.Namespace).Delete(t.Context(), lost.Name, metav1.DeleteOptions{}))
	startVolcano()

	later := awaitPodGroup(t, first, func(g *vcscheduling.PodGroup) bool { return len(g.Status.Conditions) > 0 })
	require.Equal(t, paddles.UID, later.UID)
	require.NotContains(t, managers(later), "vc-controller-manager Update", "Volcano had nothing to change")
	require.Equal(t, paddles.Spec, later.Spec)
	volcanos := awaitPodGroup(t, second, func(g *vcscheduling.PodGroup) bool { return g.UID != lost.UID && len(g.Status.Conditions) > 0 })
	require.NotContains(t, strings.Join(managers(volcanos), ","), "paddlejob-controller")
	require.Equal(t, lost.Spec, volcanos.Spec, "both create the same")

	startPaddles()
	awaitReason(t, second)
	later = awaitPodGroup(t, second, nil)
	require.Equal(t, volcanos.UID, later.UID)
	require.NotContains(t, strings.Join(managers(later), ","), "paddlejob-controller", "the controller had nothing to change")
	edit(t, first, func(job *v1.PaddleJob) {
		job.Spec.PS.Template.Spec.NodeSelector, job.Spec.Worker.Template.Spec.NodeSelector = nil, nil
	}, workersRunFor("1s"))
	awaitPhase(t, first, v1.Completed)
}

// What the controller puts back it owns, and not the sums and policies that Volcano's Job controller works out.
func TestPodGroupIsRepairedByApply(t *testing.T) {
	t.Parallel()
	job := create(t, psJob(cluster.Namespace(t), "restored", onNodes("none.has/this")))
	whole := awaitPodGroup(t, job, nil)
	// The scheduler's report is the scheduler's to write again.
	delete(whole.Annotations, report.Annotation)
	_, err := cluster.Volcano.SchedulingV1beta1().PodGroups(job.Namespace).Patch(t.Context(), whole.Name, types.MergePatchType,
		[]byte(`{"metadata":{"labels":null,"annotations":null},"spec":{"queue":"default","minMember":1}}`), metav1.PatchOptions{FieldManager: "user"})
	require.NoError(t, err)
	restored := awaitPodGroup(t, job, func(g *vcscheduling.PodGroup) bool { return g.Labels[v1.JobNameLabel] == job.Name })
	require.Equal(t, whole.UID, restored.UID)
	require.Equal(t, whole.Labels, restored.Labels)
	require.Subset(t, restored.Annotations, whole.Annotations)
	require.Equal(t, whole.Spec, restored.Spec)
	found := false
	for _, entry := range restored.ManagedFields {
		if entry.Manager == "paddlejob-controller" && entry.Operation == metav1.ManagedFieldsOperationApply {
			found = true
			for _, field := range []string{"minResources", "priorityClassName", "subGroupPolicy"} {
				require.NotContains(t, string(entry.FieldsV1.Raw), field)
			}
			require.Contains(t, string(entry.FieldsV1.Raw), "f:queue")
		}
	}
	require.True(t, found, "%v", managers(restored))
}
