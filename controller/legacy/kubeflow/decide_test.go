// SPDX-License-Identifier: Apache-2.0

package kubeflow

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	batchv1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	kubeflowv1 "github.com/paddle-volcano/paddle-volcano/controller/api/kubeflow/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
)

func deleted(made *batchv1.PaddleJob) { made.DeletionTimestamp = ago(time.Second) }

// ofAnother gives a PaddleJob another controller, or none.
func ofAnother(owners ...metav1.OwnerReference) func(*batchv1.PaddleJob) {
	return func(made *batchv1.PaddleJob) { made.OwnerReferences = owners }
}

func owner(kind, name string) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: "x/v1", Kind: kind, Name: name, UID: "another", Controller: ptr.To(true)}
}

func TestDecide(t *testing.T) {
	t.Parallel()
	broken := restarts("Sometimes")
	managedBy := func(who string) change {
		return func(j *kubeflowv1.PaddleJob) { j.Spec.RunPolicy.ManagedBy = &who }
	}
	going := func(j *kubeflowv1.PaddleJob) { j.DeletionTimestamp = ago(time.Second) }
	succeeded := ended(batchv1.ConditionSucceeded, time.Minute)
	edited := func(made *batchv1.PaddleJob) { made.Spec.Worker.Replicas = 7 }
	for name, tc := range map[string]struct {
		with []change
		// named is what changes the PaddleJob that the job would have, nil if there is none.
		named                           []func(*batchv1.PaddleJob)
		pods                            []string
		refusal                         string
		create, update, remove          bool
		stalled, waiting, specNotSynced string
		repeated                        time.Duration
		// says is in the message of what the job is stalled for or is not applied.
		says string
	}{
		"a new job":            {create: true},
		"one that is there":    {named: []func(*batchv1.PaddleJob){}},
		"edited":               {named: []func(*batchv1.PaddleJob){edited}, update: true},
		"a label more":         {named: []func(*batchv1.PaddleJob){func(made *batchv1.PaddleJob) { made.Labels["a"] = "b" }}, update: true},
		"an annotation more":   {named: []func(*batchv1.PaddleJob){func(made *batchv1.PaddleJob) { made.Annotations = map[string]string{"a": "b"} }}, update: true},
		"being deleted":        {with: []change{going}},
		"being deleted, there": {with: []change{going}, named: []func(*batchv1.PaddleJob){edited}},
		"another's":            {with: []change{managedBy("kueue.x-k8s.io/multikueue")}},
		"by this name":         {with: []change{managedBy("kubeflow.org/training-operator")}, create: true},
		"by an empty name":     {with: []change{managedBy("")}, create: true},
		"cannot run":           {with: []change{broken}, stalled: ReasonInvalidRestartPolicy, says: `restartPolicy "Sometimes" does not exist`},
		"cannot run any more": {
			with: []change{broken}, named: []func(*batchv1.PaddleJob){},
			specNotSynced: "SpecChangeRefused", says: `continues with the spec it had, because the changed one cannot run: spec.paddleReplicaSpecs.Worker.restartPolicy`,
		},
		"it is being deleted": {named: []func(*batchv1.PaddleJob){deleted}},
		"a predecessor's": {
			named:   []func(*batchv1.PaddleJob){ofAnother(owner("PaddleJob", "train"))},
			waiting: "WaitingForPredecessor", repeated: pollInterval,
		},
		"a leaving other's":  {named: []func(*batchv1.PaddleJob){ofAnother(), deleted}, waiting: "WaitingForPredecessor", repeated: pollInterval},
		"uncontrolled":       {named: []func(*batchv1.PaddleJob){ofAnother()}, stalled: "NameTaken", repeated: pollInterval, says: "a PaddleJob of batch.paddlepaddle.org named train exists"},
		"another kind's":     {named: []func(*batchv1.PaddleJob){ofAnother(owner("Workflow", "train"))}, stalled: "NameTaken", repeated: pollInterval},
		"another name's":     {named: []func(*batchv1.PaddleJob){ofAnother(owner("PaddleJob", "other"))}, stalled: "NameTaken", repeated: pollInterval},
		"of the operator":    {pods: []string{"train-worker-0", "train-worker-1"}, stalled: ReasonTrainingOperator, repeated: pollInterval, says: "2 pods of its are there, for example train-worker-0"},
		"refused":            {refusal: "spec.worker.replicas: no", create: true, stalled: ReasonRefusedByServer, says: "spec.paddleReplicaSpecs.Worker.replicas: no"},
		"refused change":     {refusal: "no", named: []func(*batchv1.PaddleJob){edited}, update: true, specNotSynced: "SpecChangeRefused", says: "cannot run: no"},
		"ended":              {with: []change{succeeded}},
		"failed":             {with: []change{ended(batchv1.ConditionFailed, time.Minute)}},
		"ended, there":       {with: []change{succeeded}, named: []func(*batchv1.PaddleJob){}},
		"ended, edited":      {with: []change{succeeded}, named: []func(*batchv1.PaddleJob){edited}, update: true},
		"ended, deleted":     {with: []change{succeeded}, named: []func(*batchv1.PaddleJob){deleted}},
		"ended, cannot run":  {with: []change{succeeded, broken}, named: []func(*batchv1.PaddleJob){}, specNotSynced: "SpecChangeRefused"},
		"ended, refused":     {with: []change{succeeded}, refusal: "no", named: []func(*batchv1.PaddleJob){edited}, update: true, specNotSynced: "SpecChangeRefused"},
		"lives on":           {with: []change{succeeded, ttl(61)}, repeated: time.Second},
		"has lived":          {with: []change{succeeded, ttl(60)}, remove: true},
		"has lived, there":   {with: []change{succeeded, ttl(0)}, named: []func(*batchv1.PaddleJob){edited}, remove: true},
		"lives forever":      {with: []change{succeeded, ttl(-1)}},
		"has not ended":      {with: []change{ttl(0)}, create: true},
		"ended at no time":   {with: []change{succeeded, ttl(0), func(j *kubeflowv1.PaddleJob) { j.Status.CompletionTime = nil }}},
		"has lived, another": {with: []change{succeeded, ttl(0), managedBy("kueue.x-k8s.io/multikueue")}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := &State{Now: at, Job: job(tc.with...), OperatorPods: tc.pods, Refusal: tc.refusal}
			if tc.named != nil {
				v.Named = madeFor(job(), tc.named...)
			}
			p := Decide(v, false)
			require.Equal(t, tc.create, p.Create != nil, "create")
			require.Equal(t, tc.update, p.Update != nil, "update")
			require.Equal(t, tc.remove, p.Delete, "delete")
			require.Equal(t, tc.repeated, p.RequeueAfter)
			for wanted, got := range map[string]*builder.Cause{tc.stalled: p.Stalled, tc.waiting: p.Waiting, tc.specNotSynced: p.SpecNotSynced} {
				if wanted == "" {
					continue
				}
				require.NotNil(t, got, wanted)
				require.Equal(t, wanted, got.Reason)
				require.Contains(t, got.Message, tc.says)
			}
			require.Equal(t, []bool{tc.stalled != "", tc.waiting != "", tc.specNotSynced != ""}, []bool{p.Stalled != nil, p.Waiting != nil, p.SpecNotSynced != nil})
			if p.Update != nil {
				require.Equal(t, Convert(v.Job, false).Job.Spec, p.Update.Spec)
				require.Equal(t, v.Named.UID, p.Update.UID)
				require.Equal(t, v.Named.ResourceVersion, p.Update.ResourceVersion, "never over a version that was not seen")
			}
		})
	}
}

// What is elastic stays so under a controller without etcd.
func TestElasticJobsStayElastic(t *testing.T) {
	t.Parallel()
	elastic := job(bounds(ptr.To[int32](1), ptr.To[int32](4)))
	made := Convert(elastic, true).Job
	require.Nil(t, Decide(&State{Now: at, Job: elastic, Named: made}, false).Update)
	worker(elastic).Replicas = ptr.To[int32](3)
	scaled := Decide(&State{Now: at, Job: elastic, Named: made}, false).Update
	require.NotNil(t, scaled)
	require.EqualValues(t, 3, scaled.Spec.Worker.Replicas)
	require.NotNil(t, scaled.Spec.Elastic)
}

// Kueue takes a job off its nodes and its node selectors away in one edit, which is refused while pods are there.
func TestSuspensionComesBeforeOtherEdits(t *testing.T) {
	t.Parallel()
	made := madeFor(job(func(j *kubeflowv1.PaddleJob) { worker(j).Template.Spec.NodeSelector = map[string]string{"rack": "a"} }))
	j := job(func(j *kubeflowv1.PaddleJob) { j.Spec.RunPolicy.Suspend = ptr.To(true) })
	says := func(kind string, is metav1.ConditionStatus, reason string) []metav1.Condition {
		return []metav1.Condition{{Type: kind, Status: is, Reason: reason}}
	}
	placed, waits := says(batchv1.ConditionScheduled, metav1.ConditionTrue, "GangPlaced"), says(batchv1.ConditionScheduled, metav1.ConditionFalse, "Placing")
	for phase, conditions := range map[string][]metav1.Condition{"placed": placed, "restarting": says(batchv1.ConditionAdmitted, metav1.ConditionFalse, "Restarting")} {
		made := made.DeepCopy()
		made.Status.Conditions = conditions
		first := Decide(&State{Now: at, Job: j, Named: made}, false).Update
		require.NotNil(t, first, phase)
		require.True(t, *first.Spec.RunPolicy.Suspend)
		require.Equal(t, made.Spec.Worker, first.Spec.Worker)
		require.Equal(t, made.ResourceVersion, first.ResourceVersion)
		require.Nil(t, Decide(&State{Now: at, Job: j, Named: first}, false).Update, "and now it waits for the pods to go")
		first.Status.Conditions = waits
		then := Decide(&State{Now: at, Job: j, Named: first}, false).Update
		require.NotNil(t, then, phase)
		require.Empty(t, then.Spec.Worker.Template.Spec.NodeSelector)
	}
	made.Status.Conditions = waits
	require.Empty(t, Decide(&State{Now: at, Job: j, Named: made}, false).Update.Spec.Worker.Template.Spec.NodeSelector, "nothing is placed")
	made.Status.Conditions = placed
	j.Status = job(ended(batchv1.ConditionSucceeded, 0)).Status
	require.Empty(t, Decide(&State{Now: at, Job: j, Named: made}, false).Update.Spec.Worker.Template.Spec.NodeSelector, "it has ended")
}

// What the API server fills in is no difference.
func TestNilAndEmptyAreTheSame(t *testing.T) {
	t.Parallel()
	made := madeFor(job())
	made.Annotations = nil
	made.Spec.Worker.Template.Spec.Volumes = []corev1.Volume{}
	require.Nil(t, Decide(&State{Now: at, Job: job(), Named: made}, false).Update)
}
