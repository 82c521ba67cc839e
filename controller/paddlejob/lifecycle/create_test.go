// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"maps"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
)

func TestCreate(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		with []change
		want gist
	}{
		"a new job": {want: gist{does: []string{"create Volcano Job job"}}},
		"names before pods": {
			with: []change{editSpec(func(s *v1.PaddleJobSpec) { s.Intranet = v1.Service })},
			want: gist{does: []string{"create environment", "create Volcano Job job"}},
		},
		"names that an earlier sync wrote": {
			with: []change{
				editSpec(func(s *v1.PaddleJobSpec) { s.Intranet = v1.Service }),
				func(obs *observed.State) {
					obs.Environment = builder.ConfigMap(obs.Job, builder.ServiceAddresses(obs.Job), "", config)
				},
			},
			want: gist{does: []string{"create Volcano Job job"}},
		},
		"paddle-operator's finalizer": {
			with: []change{func(obs *observed.State) { obs.Job.Finalizers = []string{"other", v1.OperatorFinalizer} }},
			want: gist{does: []string{"release finalizer", "create Volcano Job job"}},
		},
		"somebody's finalizer": {
			with: []change{func(obs *observed.State) { obs.Job.Finalizers = []string{"other"} }},
			want: gist{does: []string{"create Volcano Job job"}},
		},
		"being deleted": {
			with: []change{func(obs *observed.State) {
				obs.Job.DeletionTimestamp, obs.Job.Finalizers = &metav1.Time{}, []string{v1.OperatorFinalizer}
			}},
			want: gist{does: []string{"release finalizer"}},
		},
		"a spec that cannot run": {
			with: []change{editSpec(func(s *v1.PaddleJobSpec) { s.Worker.Template.Spec.SchedulerName = "other" })},
			want: gist{stalled: ReasonInvalidSpec},
		},
		"a training YAML that is not there": {
			with: []change{editSpec(namesTrainingConfig)},
			want: gist{stalled: ReasonInvalidSpec, requeueAfter: pollInterval},
		},
		"an unknown queue": {
			with: []change{editSpec(func(s *v1.PaddleJobSpec) { s.SchedulingPolicy = &v1.SchedulingPolicy{Queue: "q"} })},
			want: gist{stalled: ReasonQueueNotFound},
		},
		"a queue that has not opened yet": {
			with: []change{func(obs *observed.State) {
				obs.Queue = func(string) *vcscheduling.Queue { return &vcscheduling.Queue{} }
			}},
			want: gist{stalled: ReasonQueueNotOpen},
		},
		"a known priority class": {
			with: []change{editSpec(func(s *v1.PaddleJobSpec) { s.SchedulingPolicy = &v1.SchedulingPolicy{PriorityClass: "high"} })},
			want: gist{does: []string{"create Volcano Job job"}},
		},
		"an unknown priority class of the job": {
			with: []change{editSpec(func(s *v1.PaddleJobSpec) { s.SchedulingPolicy = &v1.SchedulingPolicy{PriorityClass: "low"} })},
			want: gist{stalled: ReasonPriorityClassNotFound},
		},
		"an unknown priority class of a template": {
			with: []change{editSpec(func(s *v1.PaddleJobSpec) { s.PS.Template.Spec.PriorityClassName = "low" })},
			want: gist{stalled: ReasonPriorityClassNotFound},
		},
		"somebody else's ConfigMap": {
			with: []change{func(obs *observed.State) {
				obs.NameConflicts = []observed.NameConflict{{Kind: "ConfigMap", Name: "job"}}
			}},
			want: gist{stalled: ReasonNameTaken, requeueAfter: pollInterval},
		},
		"an earlier job's ConfigMap": {
			with: []change{func(obs *observed.State) {
				obs.NameConflicts = []observed.NameConflict{{Kind: "ConfigMap", Name: "job", Terminating: true}}
			}},
			want: gist{waiting: ReasonPredecessor, requeueAfter: pollInterval},
		},
		"both": {
			with: []change{func(obs *observed.State) {
				obs.NameConflicts = []observed.NameConflict{{Kind: "ConfigMap", Name: "job", Terminating: true}, {Kind: "Service", Name: "job"}}
			}},
			want: gist{stalled: ReasonNameTaken, requeueAfter: pollInterval},
		},
		"an earlier job's pods": {
			with: []change{func(obs *observed.State) { obs.Predecessors = []*corev1.Pod{podOf("ps", 0, observed.Terminating, nil)} }},
			want: gist{waiting: ReasonPredecessor},
		},
		"Volcano still forgets": {
			with: []change{func(obs *observed.State) { obs.NameReservedFor = 3 * time.Second }},
			want: gist{waiting: ReasonPredecessor, requeueAfter: 3 * time.Second},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, gistOf(Decide(submitted(tc.with...), config)))
		})
	}
}

func TestCreatedVolcanoJob(t *testing.T) {
	t.Parallel()
	job := volcanoJobOf(t, Decide(submitted(), config))
	require.Equal(t, []string{metav1.FinalizerDeleteDependents}, job.Finalizers, "pods go before their Job")
	require.Equal(t, "PodIP", job.Annotations[v1.IntranetAnnotation])
	require.NotContains(t, job.Annotations, v1.EarlierRestartsAnnotation)

	job = volcanoJobOf(t, Decide(submitted(func(obs *observed.State) { obs.Job.Status.Restarts = 2 }), config))
	require.Equal(t, "2", job.Annotations[v1.EarlierRestartsAnnotation])
}

// namesTrainingConfig makes a spec collective, with degrees in a ConfigMap.
func namesTrainingConfig(s *v1.PaddleJobSpec) {
	s.PS = nil
	s.Parallelism = &v1.Parallelism{ConfigMapKeyRef: &v1.ConfigMapKeyRef{Name: "config", Key: "train.yaml"}}
}

func TestDegreesOfTheTrainingConfig(t *testing.T) {
	t.Parallel()
	plan := Decide(submitted(editSpec(namesTrainingConfig), func(obs *observed.State) {
		text := "tensor_model_parallel_size: 2\npipeline_model_parallel_size: 4\n"
		obs.TrainingConfig = &text
	}), config)
	require.Nil(t, plan.Stalled)
	job := volcanoJobOf(t, plan)
	require.Equal(t, "pipeline=4,tensor=2,order=ShardingFirst", job.Annotations[v1.ParallelismAnnotation])

	obs := submitted(editSpec(namesTrainingConfig))
	obs.VolcanoJob = job
	require.False(t, specChanged(obs), "the degrees are no part of the spec that the Volcano Job was made from")
}

// wanted gives an observed state a PodGroup of the user's own.
func wanted(minMember int32, queue, priority string) change {
	return func(obs *observed.State) {
		obs.UserPodGroup = &vcscheduling.PodGroup{
			ObjectMeta: metav1.ObjectMeta{Name: "job", UID: "own-uid"},
			Spec:       vcscheduling.PodGroupSpec{MinMember: minMember, Queue: queue, PriorityClassName: priority},
		}
	}
}

func TestUsersPodGroupOverrides(t *testing.T) {
	t.Parallel()
	events := func(plan Plan) []Event {
		create, ok := plan.Actions[0].(CreateVolcanoJob)
		require.True(t, ok)
		return create.Events
	}
	plan := Decide(submitted(wanted(2, "default", "high")), config)
	job := volcanoJobOf(t, plan)
	require.EqualValues(t, 2, job.Spec.MinAvailable)
	require.Equal(t, "high", job.Spec.PriorityClassName)
	require.Equal(t, "own-uid", job.Annotations[v1.UserPodGroupAnnotation])
	require.Len(t, events(plan), 2)
	require.Equal(t, ReasonPodGroupNotNeeded, events(plan)[1].Reason)

	plan = Decide(submitted(), config)
	require.NotContains(t, volcanoJobOf(t, plan).Annotations, v1.UserPodGroupAnnotation)
	require.Len(t, events(plan), 1)
}

// inQueue is a Volcano Job that was created while the namespace named a queue.
func inQueue(name string) change {
	return func(obs *observed.State) { obs.VolcanoJob.Spec.Queue, obs.PodGroup.Spec.Queue = name, name }
}

func TestUsersPodGroupThatIsCreatedSecond(t *testing.T) {
	t.Parallel()
	placed := []change{with("ps", observed.Starting), with("worker", observed.Starting, observed.Starting)}
	noted := func(obs *observed.State) {
		obs.VolcanoJob.Annotations[v1.UserPodGroupAnnotation] = "own-uid"
		obs.PodGroup.Annotations[v1.UserPodGroupAnnotation] = "own-uid"
	}
	note := func(reason string) gist { return gist{does: []string{"note PodGroup own-uid: " + reason}} }
	replaced := gist{does: []string{"delete Volcano Job job"}, waiting: ReasonReplacing}
	for name, tc := range map[string]struct {
		phase vcbatch.JobPhase
		with  []change
		want  gist
	}{
		"requests what is":         {phase: vcbatch.Pending, with: []change{wanted(3, "default", "")}, want: note(ReasonPodGroupNotNeeded)},
		"requests nothing":         {phase: vcbatch.Pending, with: []change{wanted(0, "", "")}, want: note(ReasonPodGroupNotNeeded)},
		"a smaller gang":           {phase: vcbatch.Pending, with: []change{wanted(2, "default", "")}, want: replaced},
		"in the namespace's queue": {phase: vcbatch.Pending, with: []change{wanted(3, "default", ""), inQueue("team")}, want: note(ReasonPodGroupNotNeeded)},
		"another queue":            {phase: vcbatch.Pending, with: []change{wanted(3, "other", "")}, want: replaced},
		"a priority":               {phase: vcbatch.Pending, with: []change{wanted(3, "default", "high")}, want: replaced},
		"more than all":            {phase: vcbatch.Pending, with: []change{wanted(9, "default", "")}, want: note(ReasonPodGroupNotApplied)},
		"too late":                 {phase: vcbatch.Running, with: append(running, environmentOf, wanted(2, "default", "")), want: note(ReasonPodGroupNotApplied)},
		"late, the same":           {phase: vcbatch.Running, with: append(running, environmentOf, wanted(3, "default", "")), want: note(ReasonPodGroupNotNeeded)},
		"noted":                    {phase: vcbatch.Pending, with: append(placed, noted, environmentOf, wanted(2, "other", "high"))},
		"the job is ending":        {phase: vcbatch.Completing, with: []change{noPodGroup, wanted(2, "default", "")}},
		"the spec says otherwise": {phase: vcbatch.Running, with: append(running, environmentOf, wanted(2, "default", ""),
			editSpec(func(s *v1.PaddleJobSpec) { s.Worker.Replicas = 3 })), want: gist{notSynced: ReasonSpecChangeNotApplied}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := gistOf(Decide(created(t, tc.phase, tc.with...), config))
			got.missing = nil // addresses are another matter
			require.Equal(t, tc.want, got)
		})
	}
}

func TestSpecChange(t *testing.T) {
	t.Parallel()
	more := editSpec(func(s *v1.PaddleJobSpec) { s.Worker.Replicas = 3 })
	fewer := editSpec(func(s *v1.PaddleJobSpec) { s.Worker.Replicas = 1 })
	bad := editSpec(func(s *v1.PaddleJobSpec) { s.Worker.Template.Spec.SchedulerName = "other" })
	placed := []change{with("ps", observed.Starting), with("worker", observed.Starting, observed.Starting)}
	replaced := gist{does: []string{"delete Volcano Job job"}, waiting: ReasonReplacing}
	for name, tc := range map[string]struct {
		phase vcbatch.JobPhase
		with  []change
		want  gist
	}{
		"nothing placed":            {phase: vcbatch.Pending, with: []change{more}, want: replaced},
		"unplaced pods":             {phase: vcbatch.Pending, with: []change{with("ps", observed.Unscheduled), more}, want: replaced},
		"placed, without addresses": {phase: vcbatch.Pending, with: append(placed, more), want: replaced},
		"placed, with addresses": {
			phase: vcbatch.Pending, with: append(placed, environmentOf, more), want: gist{notSynced: ReasonSpecChangeNotApplied},
		},
		"running": {phase: vcbatch.Running, with: append(running, environmentOf, more), want: gist{notSynced: ReasonSpecChangeNotApplied}},
		"running, fewer": {
			phase: vcbatch.Running, with: append(running, environmentOf, fewer), want: gist{notSynced: ReasonSpecChangeNotApplied},
		},
		"running, addresses lost": {phase: vcbatch.Running, with: append(running, more), want: gist{notSynced: ReasonSpecChangeNotApplied}},
		"running, another intranet": {
			phase: vcbatch.Running, with: append(running, environmentOf, editSpec(func(s *v1.PaddleJobSpec) { s.Intranet = v1.Service })),
			want: gist{notSynced: ReasonSpecChangeNotApplied},
		},
		"running, and cannot run": {phase: vcbatch.Running, with: append(running, environmentOf, bad), want: gist{notSynced: ReasonSpecChangeRefused}},
		"pending, and cannot run": {
			phase: vcbatch.Pending, with: []change{bad}, want: gist{notSynced: ReasonSpecChangeRefused},
		},
		"restarting": {
			phase: vcbatch.Restarting, with: append(running, environmentOf, more),
			want: gist{does: []string{"delete ConfigMap job", "delete Volcano Job job"}, waiting: ReasonReplacing},
		},
		"completing": {phase: vcbatch.Completing, with: []change{noPodGroup, more}},
		"gang restarted, addresses of the dead": {
			phase: vcbatch.Running,
			with:  append(placed, environmentOf, more, func(obs *observed.State) { obs.Pods[0].UID = "new" }),
			want:  gist{does: []string{"delete ConfigMap job"}, notSynced: ReasonSpecChangeNotApplied},
		},
		"being deleted already": {
			phase: vcbatch.Pending, with: []change{more, func(obs *observed.State) { obs.VolcanoJob.DeletionTimestamp = &metav1.Time{} }},
			want: gist{waiting: ReasonReplacing},
		},
		"cleanPodPolicy alone": {
			phase: vcbatch.Running, with: append(running, environmentOf, editSpec(func(s *v1.PaddleJobSpec) { s.CleanPodPolicy = v1.CleanAlways })),
		},
		"labels alone": {phase: vcbatch.Running, with: append(running, environmentOf, func(obs *observed.State) {
			obs.Job.Labels = map[string]string{"team": "vision"}
		})},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, gistOf(Decide(created(t, tc.phase, tc.with...), config)))
		})
	}
}

// paddle-operator did nothing for a job whose PodGroup was neither Inqueue nor Running, Unknown among them.
func TestNoPhaseOfThePodGroupStopsAJob(t *testing.T) {
	t.Parallel()
	for _, phase := range []vcscheduling.PodGroupPhase{
		"", vcscheduling.PodGroupPending, vcscheduling.PodGroupInqueue, vcscheduling.PodGroupRunning, vcscheduling.PodGroupUnknown, vcscheduling.PodGroupCompleted,
	} {
		in := func(obs *observed.State) { obs.PodGroup.Status.Phase = phase }
		starts := created(t, vcbatch.Running, with("ps", observed.Starting), with("worker", observed.Starting, observed.Starting), in)
		require.Equal(t, gist{does: []string{"create environment"}}, gistOf(Decide(starts, config)), phase)
		lost := created(t, vcbatch.Restarting, append(running, environmentOf, in)...)
		require.Equal(t, gist{does: []string{"delete ConfigMap job"}}, gistOf(Decide(lost, config)), phase)
	}
}

// forged is a value for every key under which the controller keeps its state.
var forged = map[string]string{
	v1.JobNameLabel: "other", v1.ModeAnnotation: "Single", v1.SpecHashAnnotation: "0", v1.IntranetAnnotation: string(v1.Host), v1.EarlierRestartsAnnotation: "7",
	v1.RecreationsAnnotation: "3", v1.UserPodGroupAnnotation: "uid", v1.GangAnnotation: "gang", v1.ElasticAnnotation: "true", v1.AnnouncedAnnotation: "true",
	v1.FirstPortAnnotation: "20000", v1.AddressAnnotation: "10.9.9.9", v1.AnnouncedAtAnnotation: "now", v1.PortAnnotation: "20000",
	v1.PortRangeAnnotation: "20000", v1.Prefix + "of-a-later-release": "yes",
}

// The Volcano Job and its pods are the same with any keys of a user under the project's prefix; all other metadata is copied.
func TestUsersCannotSetTheControllersKeys(t *testing.T) {
	others := map[string]string{"team": "ads", "volcano.sh/preemptable": "true"}
	metadata := func(values ...map[string]string) change {
		return func(obs *observed.State) {
			all := map[string]string{}
			for _, m := range values {
				maps.Copy(all, m)
			}
			for _, to := range []*metav1.ObjectMeta{&obs.Job.ObjectMeta, &obs.Job.Spec.Worker.Template.ObjectMeta} {
				to.Labels, to.Annotations = maps.Clone(all), maps.Clone(all)
			}
		}
	}
	for name, spec := range map[string]change{
		"PodIP": func(*observed.State) {},
		"Host":  func(obs *observed.State) { obs.Job.Spec.Intranet = v1.Host },
		"elastic": func(obs *observed.State) {
			obs.Job.Spec.PS, obs.Job.Spec.Elastic = nil, new(int32)
			obs.Job.Spec.ElasticPolicy = &v1.ElasticPolicy{Etcd: "10.0.0.9:2379"}
		},
	} {
		t.Run(name, func(t *testing.T) {
			rendered := func(values ...map[string]string) *observed.State {
				obs := submitted(spec, metadata(values...))
				plan := Decide(obs, config)
				require.Nil(t, plan.Stalled)
				obs.VolcanoJob = volcanoJobOf(t, plan)
				delete(obs.VolcanoJob.Annotations, v1.SpecHashAnnotation) // templates are part of the spec
				return obs
			}
			want, got := rendered(others), rendered(others, forged)
			require.Equal(t, want.VolcanoJob, got.VolcanoJob)
			require.Equal(t, "ads", got.VolcanoJob.Labels["team"])
			require.Equal(t, "ads", got.VolcanoJob.Spec.Tasks[len(got.VolcanoJob.Spec.Tasks)-1].Template.Annotations["team"])
			require.Equal(t, "true", got.VolcanoJob.Annotations["volcano.sh/preemptable"])
		})
	}
}

func TestUsersKeysReachTheVolcanoJob(t *testing.T) {
	obs := submitted(func(obs *observed.State) {
		obs.Job.Annotations = map[string]string{v1.ColocationAnnotation: "Required", v1.ParameterSizeAnnotation: "2Gi", v1.GroupSizeAnnotation: "8", v1.MinResourcesAnnotation: "cpu=4"}
	})
	job := volcanoJobOf(t, Decide(obs, config))
	require.Subset(t, job.Annotations, obs.Job.Annotations)
	require.Subset(t, builder.PodGroup(job).Annotations, obs.Job.Annotations)
}
