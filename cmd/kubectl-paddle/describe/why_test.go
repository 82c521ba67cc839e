// SPDX-License-Identifier: Apache-2.0

package describe_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/describe"
	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/lifecycle"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
)

var now = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func ago(d time.Duration) metav1.Time { return metav1.NewTime(now.Add(-d)) }

// job is one that was submitted an hour ago, with what has happened to it five minutes ago.
func job(phase v1.Phase, conditions ...metav1.Condition) *describe.Objects {
	j := &v1.PaddleJob{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "resnet", CreationTimestamp: ago(time.Hour), Generation: 1}}
	j.Spec.Worker = &v1.ResourceSpec{Replicas: 4}
	if phase == v1.Completed {
		conditions = append(conditions, is(v1.ConditionSucceeded, "WorkersSucceeded", ""))
	}
	j.Status = v1.PaddleJobStatus{Phase: phase, ObservedGeneration: 1, Conditions: conditions}
	return &describe.Objects{State: observed.State{Job: j, Now: now}}
}

func is(kind, reason, message string) metav1.Condition {
	return metav1.Condition{Type: kind, Status: metav1.ConditionTrue, Reason: reason, Message: message, LastTransitionTime: ago(5 * time.Minute)}
}

func isNot(kind, reason, message string) metav1.Condition {
	c := is(kind, reason, message)
	c.Status = metav1.ConditionFalse
	return c
}

func with(o *describe.Objects, changes ...func(*describe.Objects)) *describe.Objects {
	for _, change := range changes {
		change(o)
	}
	return o
}

// placed gives the PodGroup the plugin's condition.
func placed(status corev1.ConditionStatus, reason, message string) func(*describe.Objects) {
	return func(o *describe.Objects) {
		o.PodGroup = &vcscheduling.PodGroup{Status: vcscheduling.PodGroupStatus{Conditions: []vcscheduling.PodGroupCondition{
			{Type: "Unschedulable", Status: corev1.ConditionTrue, Message: "old"},
			{Type: "PaddleScheduled", Status: status, Reason: reason, Message: message},
		}}}
	}
}

// reports gives the PodGroup the plugin's condition and report.
func reports(status corev1.ConditionStatus, r report.Report) func(*describe.Objects) {
	return func(o *describe.Objects) {
		placed(status, string(r.Reason), r.Message)(o)
		o.PodGroup.Annotations = map[string]string{report.Annotation: r.Encode()}
	}
}

// runs is the report of four workers in two racks.
func runs(crossing, seconds float64) report.Report {
	return report.Report{Reason: report.Placed, Message: "4 workers are on 4 nodes in 2 racks of block b1", Placement: &report.Placement{
		InBytes: true, Nodes: []report.Node{{Name: "n1", Pods: map[string]int{"worker": 1}}}, Tiers: []report.Tier{
			report.NewTier("node", []string{"n1", "n2", "n3", "n4"}, 3*crossing, seconds), report.NewTier("rack", []string{"r1", "r2"}, crossing, 0),
			report.NewTier("block", []string{"b1"}, 0, 0),
		},
	}}
}

// ideal is the same on an empty cluster.
func ideal(r report.Report) func(*describe.Objects) {
	return func(o *describe.Objects) { o.Ideal = r.Placement }
}

func failedPod(name string, code int32) func(*describe.Objects) {
	return func(o *describe.Objects) {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"paddle-res-type": "worker", "volcano.sh/task-index": "1"}}}
		pod.Spec.NodeName, pod.Status.Phase = "node-7", corev1.PodFailed
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Message: "loss is nan\n"}}}}
		o.Pods = append(o.Pods, pod)
	}
}

func waitingPod(name, reason string) func(*describe.Objects) {
	return func(o *describe.Objects) {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}}
		pod.Spec.NodeName, pod.Status.Phase = "node-7", corev1.PodPending
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}}}}
		o.Pods = append(o.Pods, pod)
		o.VolcanoJob = &vcbatch.Job{}
	}
}

// cannotMount gives the pods a volume of a ConfigMap that does not exist, as the kubelet reports last.
func cannotMount(name string) func(*describe.Objects) {
	return func(o *describe.Objects) {
		task := vcbatch.TaskSpec{}
		task.Template.Spec.Volumes = []corev1.Volume{{VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: name}}}}}
		o.VolcanoJob.Spec.Tasks = []vcbatch.TaskSpec{task}
		event := func(message string, before time.Duration) corev1.Event {
			return corev1.Event{Reason: "FailedMount", LastTimestamp: ago(before), Message: `MountVolume.SetUp failed for volume "v" : ` + message}
		}
		o.Events = append(o.Events, event(`configmap "`+name+`" not found`, time.Minute), event("timed out", time.Hour))
	}
}

const anotherImage = "Make the image available to the nodes, which retry at least every 5 minutes, or name imagePullSecrets for its registry; " +
	"for another image: kubectl paddle suspend resnet, kubectl edit pdj resnet, kubectl paddle resume resnet."

func restarted(n int32) func(*describe.Objects) {
	return func(o *describe.Objects) { o.Job.Status.Restarts = n }
}

func suspends(o *describe.Objects) { o.Job.Spec.RunPolicy = &v1.RunPolicy{Suspend: ptr.To(true)} }

// podsRefused is what Volcano's Job controller says when the API server admits none of the pods.
func podsRefused(o *describe.Objects) {
	about := corev1.ObjectReference{Kind: "Job", Name: "resnet"}
	o.Events = append(o.Events, corev1.Event{
		InvolvedObject: about, Type: corev1.EventTypeWarning, Reason: "FailedCreate",
		Message: `Error creating pods: [failed to create pod resnet-worker-0, err: &errors.StatusError{ErrStatus:v1.Status{TypeMeta:v1.TypeMeta{Kind:"", APIVersion:""}, ` +
			`Status:"Failure", Message:"pods \"resnet-worker-0\" is forbidden: violates PodSecurity", Reason:"Forbidden"}} failed to create pod resnet-worker-1, err: ` +
			`&errors.StatusError{ErrStatus:v1.Status{Message:"pods \"resnet-worker-1\" is forbidden: violates PodSecurity"}}]`,
	})
}

func elastic(o *describe.Objects) {
	o.Job.Spec.ElasticPolicy = &v1.ElasticPolicy{MinReplicas: ptr.To[int32](2), MaxReplicas: ptr.To[int32](8)}
}

func kept(o *describe.Objects) {
	o.Job.Spec.RunPolicy = &v1.RunPolicy{TTLSecondsAfterFinished: ptr.To[int32](3600)}
}

func began(o *describe.Objects) { o.Job.Status.StartTime = ptr.To(ago(time.Minute)) }

const refusedWords = `Volcano has made 0 of 2 pods, and the API server refuses the rest: pods "resnet-worker-0" is forbidden: violates PodSecurity`

const waitForPods = "Wait a moment; if it stays so, quotas or policies of the namespace may forbid pods: see the events of the Volcano Job."

func researchQueue(o *describe.Objects) {
	o.Queue = &vcscheduling.Queue{ObjectMeta: metav1.ObjectMeta{Name: "research"}}
	o.Queue.Status.State = vcscheduling.QueueStateOpen
}

var full = report.Report{
	Reason: report.InsufficientResources, Message: "3 of 16 workers do not fit: the cluster has capacity for 15 of the 16 GPUs that the workers need",
	Missing: &report.Missing{
		Roles:     []report.Role{{Role: "worker", Minimum: 16, Missing: 3}},
		Resources: []report.Resource{{Name: "nvidia.com/gpu", Requested: "16", Available: "15"}},
	},
	Suggestions: []report.Suggestion{
		{Kind: report.FewerReplicas, Role: "worker", Value: "13", Text: "it fits with 13 workers"},
		{Kind: report.FreeResources, Value: "cluster", Text: "it fits with 1 GPU more in the cluster"},
	},
}

func TestWhy(t *testing.T) {
	training := is(v1.ConditionRunning, "Training", "")
	for name, test := range map[string]struct {
		objects *describe.Objects
		want    []string // headline and sentences
	}{
		"not processed yet": {with(job(""), func(o *describe.Objects) { o.Job.Status.ObservedGeneration = 0 }), []string{
			"resnet was submitted 60m ago, and the controller has not processed it yet.",
			"The controller does not run, or does not watch this namespace: ask an administrator of the cluster to check it (kubectl get pods -A -l app.kubernetes.io/name=paddle-volcano,app.kubernetes.io/component=controller).",
		}},
		"not enough resources": {with(job(v1.Pending, isNot(v1.ConditionScheduled, "InsufficientResources", "old")), reports("False", full), researchQueue), []string{
			"resnet has been Pending for 60m: its pods have no nodes yet.",
			"3 of 16 workers do not fit: the cluster has capacity for 15 of the 16 GPUs that the workers need (InsufficientResources).",
			"It fits with 13 workers.", "It fits with 1 GPU more in the cluster.",
			"Wait for other jobs to end, or request less.",
			`Its queue "research" is open.`,
		}},
		"a taint": {with(job(v1.Pending), reports("False", report.Report{
			Reason: report.UntoleratedTaint, Message: "2 of 2 workers have no node: the taint a=b:NoSchedule is on 8 of 8 nodes, and the pods do not tolerate it",
			Suggestions: []report.Suggestion{report.Suggest(report.AddToleration, "a=b:NoSchedule"), report.Suggest(report.RemoveTaint, "a=b:NoSchedule")},
		})), []string{
			"resnet has been Pending for 60m: its pods have no nodes yet.",
			"2 of 2 workers have no node: the taint a=b:NoSchedule is on 8 of 8 nodes, and the pods do not tolerate it (UntoleratedTaint).",
			"Tolerate the taint a=b:NoSchedule in the pod template, or ask an administrator to remove the taint a=b:NoSchedule from nodes.",
		}},
		"elastic, and too large for a moment": {with(job(v1.Pending), elastic, kept, reports("False", full)), []string{
			"resnet has been Pending for 60m: its pods have no nodes yet.",
			"3 of 16 workers do not fit: the cluster has capacity for 15 of the 16 GPUs that the workers need (InsufficientResources).",
			"It fits with 13 workers.", "It fits with 1 GPU more in the cluster.", "Wait for other jobs to end, or request less.",
			"It starts once 2 of its 4 workers have nodes (spec.elasticPolicy.minReplicas).",
		}},
		"elastic, and its queue is closed": {with(job(v1.Pending, isNot(v1.ConditionScheduled, "QueueClosed", "queue q is closed")), elastic, kept), []string{
			"resnet has been Pending for 60m: its pods have no nodes yet.", "Queue q is closed (QueueClosed).",
			"Have the queue opened, or use another queue (spec.schedulingPolicy.queue).",
		}},
		"completed, and deleted later": {with(job(v1.Completed), elastic, kept, func(o *describe.Objects) { o.Job.Status.CompletionTime = ptr.To(ago(10 * time.Minute)) }), []string{
			"resnet has completed 10m ago: every worker has succeeded.", "It is deleted in 50m (spec.runPolicy.ttlSecondsAfterFinished).",
		}},
		"an object that does not exist": {with(job(v1.Pending), reports("False", report.Report{
			Reason: report.PersistentVolumeClaimNotFound, Message: "2 of 2 workers have no node: PersistentVolumeClaim data does not exist",
			Suggestions: []report.Suggestion{report.Suggest(report.CreateObject, "PersistentVolumeClaim data")},
		})), []string{
			"resnet has been Pending for 60m: its pods have no nodes yet.",
			"2 of 2 workers have no node: PersistentVolumeClaim data does not exist (PersistentVolumeClaimNotFound).",
			"Create PersistentVolumeClaim data.", "If the name is wrong, correct claimName in the volumes of the pod template.",
		}},
		"a plugin without reports": {with(job(v1.Pending), placed("False", "InsufficientResources", "1 of 5 workers does not fit")), []string{
			"resnet has been Pending for 60m: its pods have no nodes yet.", "1 of 5 workers does not fit (InsufficientResources).", "Wait for other jobs to end, or request less.",
		}},
		"PodGroups may not be read": {job(v1.Pending, isNot(v1.ConditionScheduled, "InsufficientResources", "1 of 5 workers does not fit")), []string{
			"resnet has been Pending for 60m: its pods have no nodes yet.", "1 of 5 workers does not fit (InsufficientResources).", "Wait for other jobs to end, or request less.",
		}},
		"its queue has not admitted it": {job(v1.Pending, isNot(v1.ConditionScheduled, "QueueClosed", "queue q is closed")), []string{
			"resnet has been Pending for 60m: its pods have no nodes yet.", "Queue q is closed (QueueClosed).",
			"Have the queue opened, or use another queue (spec.schedulingPolicy.queue).",
		}},
		"it is just being placed": {job(v1.Pending, isNot(v1.ConditionScheduled, "Placing", "")), []string{
			"resnet has been Pending for 60m: its pods have no nodes yet.", "The scheduler is looking for free resources for all its pods.",
		}},
		"stalled": {job(v1.Pending, is(v1.ConditionStalled, "QueueNotFound", `queue "x" does not exist`)), []string{
			"resnet cannot continue until something is changed: QueueNotFound.", `Queue "x" does not exist.`,
			"Create the queue, or name another one in spec.schedulingPolicy.queue; the job then continues, and need not be deleted.",
		}},
		"evicted more often than it may fail": {with(job(v1.Pending, isNot(v1.ConditionScheduled, "Placing", "")), restarted(9)), []string{
			"resnet has been Pending for 5m: its pods have no nodes yet.", "The scheduler is looking for free resources for all its pods.",
			"It was restarted 9 times; of 2 failures that backoffLimit allows it has had 0.",
		}},
		"suspended": {with(job(v1.Suspended, is(v1.ConditionSuspended, "Suspended", "")), suspends), []string{
			"resnet has been suspended for 5m: it has no pods, and uses no capacity of its queue.", "kubectl paddle resume resnet starts it again.",
		}},
		"resumed, and not seen yet": {job(v1.Suspended, is(v1.ConditionSuspended, "Suspended", "")), []string{
			"resnet has just been resumed, and starts again in a moment.",
		}},
		"restarting": {with(job(v1.Restarting, is(v1.ConditionRestarting, "PodFailed", "restart 1 of 2: resnet-worker-1 exited with code 137 (OOMKilled)")), restarted(1), failedPod("resnet-worker-1", 137)), []string{
			"resnet lost a pod 5m ago, and starts again.", "Restart 1 of 2: resnet-worker-1 exited with code 137 (OOMKilled).",
			"It has been restarted once so far; of 2 failures that backoffLimit allows it has had 0.", "resnet-worker-1 exited with code 137, on node node-7.",
		}},
		"failed": {with(job(v1.Failed, is(v1.ConditionFailed, "PodFailed", "resnet-worker-1 exited with code 1")), failedPod("resnet-worker-1", 1)), []string{
			"resnet has failed.", "resnet-worker-1 exited with code 1.", "resnet-worker-1 exited with code 1, on node node-7.",
			"kubectl paddle logs resnet --role worker --rank 1 shows what it wrote last.",
		}},
		"failed, for its pods were refused": {with(job(v1.Failed, is(v1.ConditionFailed, "PodsRefused", "Volcano terminated the job: "+refusedWords)), podsRefused), []string{
			"resnet has failed.", "Volcano terminated the job: " + refusedWords + ".", "Change the job or have the rule changed that the API server names; then submit the job again.",
		}},
		"waits, for its pods are refused as the controller knows": {with(job(v1.Pending, isNot(v1.ConditionScheduled, "PodsRefused", refusedWords)), placed("False", "WaitingForPods", "2 workers are not there yet"), podsRefused), []string{
			"resnet has been Pending for 60m: its pods cannot be created.", refusedWords + " (PodsRefused).",
			"Change the job or have the rule changed that the API server names; Volcano retries, and the job fails after some minutes.",
		}},
		"waits, for a quota is used up": {with(job(v1.Pending, isNot(v1.ConditionScheduled, "QuotaExceeded", "exceeded quota")), placed("False", "WaitingForPods", "2 workers are not there yet")), []string{
			"resnet has been Pending for 60m: its pods cannot be created.", "Exceeded quota (QuotaExceeded).",
			"Wait for other jobs of the namespace to end, ask for less, or have the ResourceQuota of the namespace raised (kubectl describe quota); " +
				"Volcano retries, and the job fails after some minutes.",
		}},
		"waits, for its pods are refused": {with(job(v1.Pending), placed("False", "WaitingForPods", "2 workers are not there yet"), podsRefused), []string{
			"resnet has been Pending for 60m: its pods have no nodes yet.", "2 workers are not there yet (WaitingForPods).", waitForPods, `Volcano Job resnet: pods "resnet-worker-0" is forbidden: violates PodSecurity (FailedCreate).`,
		}},
		"failed, and its pods are gone": {with(job(v1.Failed, is(v1.ConditionFailed, "JobFailed", "its Volcano Job failed")), podsRefused, began), []string{
			"resnet has failed.", "Its Volcano Job failed.", "Its pods are gone, and their logs with them; spec.cleanPodPolicy Never keeps them the next time.",
		}},
		"starting, held up by an image": {with(job(v1.Starting, is(v1.ConditionScheduled, "GangPlaced", ""), isNot(v1.ConditionRunning, "PodsStarting", "not running yet: resnet-worker-0")), waitingPod("resnet-worker-0", "ImagePullBackOff"), waitingPod("resnet-worker-1", "ContainerCreating")), []string{
			"resnet has had its nodes for 5m, and its pods cannot start: ImagePullFailed.", "1 pod cannot start (ImagePullFailed): resnet-worker-0.", anotherImage,
		}},
		"starting, held up by an image, and the Volcano Job is not known": {with(job(v1.Starting, is(v1.ConditionScheduled, "GangPlaced", "")), waitingPod("resnet-worker-0", "ImagePullBackOff"), func(o *describe.Objects) { o.VolcanoJob = nil }), []string{
			"resnet has had its nodes for 5m, and its pods cannot start: ImagePullFailed.", "1 pod cannot start (ImagePullFailed): resnet-worker-0.", anotherImage,
		}},
		"starting, without a ConfigMap that a volume needs": {with(job(v1.Starting, is(v1.ConditionScheduled, "GangPlaced", ""), isNot(v1.ConditionRunning, "PodsStarting", "not running yet: resnet-worker-0")), waitingPod("resnet-worker-0", "ContainerCreating"), cannotMount("settings")), []string{
			"resnet has had its nodes for 5m, and its pods cannot start: ConfigMapNotFound.",
			"1 pod cannot start (ConfigMapNotFound): resnet-worker-0; ConfigMap settings does not exist in namespace team.",
			"Create ConfigMap settings in namespace team: the pods then start within some minutes.",
		}},
		"starting": {with(job(v1.Starting, is(v1.ConditionScheduled, "GangPlaced", ""), isNot(v1.ConditionRunning, "PodsStarting", "not running yet: resnet-worker-0")), waitingPod("resnet-worker-0", "ContainerCreating")), []string{
			"resnet has had its nodes for 5m, and its pods are starting.", "Not running yet: resnet-worker-0.",
		}},
		"nothing is wrong": {with(job(v1.Running, training), reports("True", report.Report{
			Reason: report.Placed, Message: "4 workers are on 1 node of rack r3", Placement: &report.Placement{Tiers: []report.Tier{report.NewTier("node", []string{"n1"}, 0, 0)}},
		})), []string{
			"resnet has been running for 5m; nothing is wrong.", "4 workers are on 1 node of rack r3.", "A step of training sends nothing between nodes.",
		}},
		"slow": {with(job(v1.Running, training), reports("True", runs(4<<30, 0)), ideal(runs(1<<30, 0))), []string{
			"resnet has been running for 5m.",
			"Its place is not the fastest: its pods are in 2 racks, and each step of training sends 4 GiB between them; on an empty cluster it would send 3 GiB between nodes and 1 GiB between racks.",
			"4 workers are on 4 nodes in 2 racks of block b1.", "A step of training sends 12 GiB between nodes and 4 GiB between racks.",
		}},
		"apart, and an empty cluster would do no better": {with(job(v1.Running, training), reports("True", runs(4<<30, 0.5)), ideal(runs(4<<30, 0.5))), []string{
			"resnet has been running for 5m; nothing is wrong.",
			"4 workers are on 4 nodes in 2 racks of block b1.", "A step of training sends 12 GiB between nodes and 4 GiB between racks.",
			"The busiest link takes 0.5 s of each step, between nodes.",
		}},
		"apart, and it is not known whether that could be better": {with(job(v1.Running, training), reports("True", runs(4<<30, 0))), []string{
			"resnet has been running for 5m; nothing is wrong.",
			"4 workers are on 4 nodes in 2 racks of block b1.", "A step of training sends 12 GiB between nodes and 4 GiB between racks.",
		}},
		"runs, and some of it waits": {with(job(v1.Running, training), reports("True", report.Report{Reason: report.Placed, Message: "2 workers are on 1 node", Surplus: "2 workers beyond the minimum wait"})), []string{
			"resnet has been running for 5m.", "2 workers beyond the minimum wait.", "2 workers are on 1 node.",
		}},
		"a change without effect": {job(v1.Running, training, is(v1.ConditionCreated, "SpecChangeNotApplied", "the spec was changed after pods were placed")), []string{
			"resnet has been running for 5m; nothing is wrong.", "The last change of the spec has no effect (SpecChangeNotApplied): the spec was changed after pods were placed.",
		}},
		"failed, for its launcher mixes up addresses": {with(job(v1.Failed, is(v1.ConditionFailed, "PodFailed", "resnet-worker-1 exited with code 1"), isNot(v1.ConditionLauncherUsable, "AddressPrefix", "10.0.0.1 is a prefix of 10.0.0.12")), failedPod("resnet-worker-1", 1)), []string{
			"resnet has failed.", "resnet-worker-1 exited with code 1.", "resnet-worker-1 exited with code 1, on node node-7.",
			"kubectl paddle logs resnet --role worker --rank 1 shows what it wrote last.", "10.0.0.1 is a prefix of 10.0.0.12.",
		}},
		"completed without the launcher": {job(v1.Completed, isNot(v1.ConditionLauncherUsable, "AddressPrefix", "10.0.0.1 is a prefix of 10.0.0.12")), []string{
			"resnet has completed: every worker has succeeded.",
		}},
		"completed": {with(job(v1.Completed), func(o *describe.Objects) {
			o.Job.Status.StartTime, o.Job.Status.CompletionTime = ptr.To(ago(50*time.Minute)), ptr.To(ago(10*time.Minute))
		}), []string{"resnet has completed 10m ago after 40m of training: every worker has succeeded."}},
		"being deleted": {with(job(v1.Running, training), func(o *describe.Objects) { o.Job.DeletionTimestamp = ptr.To(ago(time.Minute)) }), []string{
			"resnet has been deleted 60s ago, and its objects are being deleted.",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			d := describe.Why(test.objects)
			got := []string{d.Headline}
			for _, s := range d.Sentences {
				got = append(got, s.Text)
			}
			require.Equal(t, strings.Join(test.want, "\n"), strings.Join(got, "\n"))

			test.objects.Catalog = report.Chinese
			d = describe.Why(test.objects)
			require.Regexp(t, `^\S+ \p{Han}.*。$`, d.Headline)
			for _, s := range d.Sentences {
				require.True(t, s.About != describe.AboutHelp || hasHan.MatchString(s.Text) || fits.MatchString(s.Text), s.Text)
				require.NotContains(t, s.Text, "{")
			}
		})
	}
}

// hasHan matches Chinese. Only its text has the amounts of what has to be free; it is English.
var hasHan, fits = regexp.MustCompile(`\p{Han}`), regexp.MustCompile(`^It fits with .* more in `)

func TestWhyInChinese(t *testing.T) {
	o := with(job(v1.Pending), reports("False", full))
	o.Catalog = report.Chinese
	d := describe.Why(o)
	require.Equal(t, `resnet 已等待 60m：它的 Pod 还没有节点。
  16 个 worker 中的 3 个放不下：nvidia.com/gpu 请求 16，可用 15（InsufficientResources）。
  调度器的原文：3 of 16 workers do not fit: the cluster has capacity for 15 of the 16 GPUs that the workers need。
  怎么办：
  - 13 个 worker 时放得下。
  - It fits with 1 GPU more in the cluster.
  - 等待其他作业结束，或减少请求。`, d.Headline+"\n"+strings.Join(describe.Lines(report.Chinese, d.Sentences, false), "\n"))

	o = job(v1.Pending, isNot(v1.ConditionScheduled, "Placing", "the scheduler looks for nodes for the whole gang"))
	o.Catalog = report.Chinese
	require.Equal(t, "  调度器正在为它的所有 Pod 寻找空闲资源（Placing）。", describe.Lines(report.Chinese, describe.Why(o).Sentences, false)[0])
}

// What is wrong stands at the end of a message that errors are wrapped in, such as the kubelet's.
func TestLongMessagesKeepTheirEnd(t *testing.T) {
	const image, cause = "registry.example.com/demo-wide-and-deep:v1", "dial tcp: lookup registry.example.com: no such host"
	message := fmt.Sprintf(`Failed to pull image %[1]q: failed to pull and unpack image %[1]q: failed to resolve reference %[1]q: failed to do request: Head "https://registry.example.com/v2/manifests/v1": %s`, image, cause)
	o := with(job(v1.Starting, is(v1.ConditionScheduled, "GangPlaced", ""), isNot(v1.ConditionRunning, "PodsStarting", "")), waitingPod("a", "ErrImagePull"))
	o.Pods[0].Status.ContainerStatuses[0].State.Waiting.Message = message
	text := describe.Why(o).Sentences[0].Text
	require.Contains(t, text, "Failed to pull image \""+image)
	require.Contains(t, text, "…")
	require.Contains(t, text, cause)
	require.Less(t, len(text), len(message))
}

// The reason is there for programs.
func TestReason(t *testing.T) {
	placed, running := is(v1.ConditionScheduled, "GangPlaced", ""), isNot(v1.ConditionRunning, "PodsStarting", "")
	for want, objects := range map[string]*describe.Objects{
		"QueueNotFound":         job(v1.Pending, is(v1.ConditionStalled, "QueueNotFound", "x")),
		"QueueNotOpen":          job(v1.Pending, is(v1.ConditionStalled, "QueueNotOpen", "x")),
		"PriorityClassNotFound": job(v1.Pending, is(v1.ConditionStalled, "PriorityClassNotFound", "x")),
		"QuotaExceeded":         job(v1.Pending, isNot(v1.ConditionScheduled, "QuotaExceeded", "x")),
		"PodSecurityViolation":  job(v1.Failed, is(v1.ConditionFailed, "PodSecurityViolation", "x")),
		"PodFailed":             job(v1.Restarting, is(v1.ConditionRestarting, "PodFailed", "x")),
		"PodsStarting":          job(v1.Starting, placed, running),
		"ImagePullFailed":       with(job(v1.Starting, placed, running), waitingPod("a", "ErrImagePull")),
		"ConfigMapNotFound":     with(job(v1.Starting, placed, running), waitingPod("a", "ContainerCreating"), cannotMount("settings")),
		"":                      job(v1.Running, is(v1.ConditionRunning, "Training", "")),
	} {
		require.Equal(t, want, describe.Why(objects).Reason)
	}
}

// So is what is missing, and what helps.
func TestMissingAndSuggestions(t *testing.T) {
	placed, running := is(v1.ConditionScheduled, "GangPlaced", ""), isNot(v1.ConditionRunning, "PodsStarting", "")
	inQueue := func(o *describe.Objects) { o.Job.Spec.SchedulingPolicy = &v1.SchedulingPolicy{Queue: "q"} }
	classes := func(o *describe.Objects) {
		o.Job.Spec.SchedulingPolicy = &v1.SchedulingPolicy{PriorityClass: "high"}
		o.Job.Spec.Worker.Template.Spec.PriorityClassName = "urgent"
		require.Equal(t, []string{"high", "urgent"}, o.PriorityClasses())
		o.MissingPriorityClasses = []string{"urgent"}
	}
	for name, tc := range map[string]struct {
		objects *describe.Objects
		missing []report.Object
		kind    report.Kind
		value   string
	}{
		"a queue":          {with(job(v1.Pending, is(v1.ConditionStalled, "QueueNotFound", "x")), inQueue), []report.Object{{Kind: "Queue", Name: "q"}}, report.CreateObject, "Queue q"},
		"a closed queue":   {with(job(v1.Pending, is(v1.ConditionStalled, "QueueNotOpen", "x")), inQueue), nil, report.OpenQueue, "q"},
		"a PriorityClass":  {with(job(v1.Pending, is(v1.ConditionStalled, "PriorityClassNotFound", "x")), classes), []report.Object{{Kind: "PriorityClass", Name: "urgent"}}, report.CreateObject, "PriorityClass urgent"},
		"quota":            {job(v1.Pending, isNot(v1.ConditionScheduled, "QuotaExceeded", "x")), nil, report.RaiseResourceQuota, ""},
		"pods are refused": {job(v1.Pending, isNot(v1.ConditionScheduled, "PodSecurityViolation", "x")), nil, describe.ChangePodTemplate, ""},
		"failed for it":    {job(v1.Failed, is(v1.ConditionFailed, "QuotaExceeded", "x")), nil, report.RaiseResourceQuota, ""},
		"an image":         {with(job(v1.Starting, placed, running), waitingPod("a", "ErrImagePull")), nil, describe.MakeImageAvailable, ""},
		"a container":      {with(job(v1.Starting, placed, running), waitingPod("a", "CreateContainerError")), nil, describe.ChangePodTemplate, ""},
		"a ConfigMap": {with(job(v1.Starting, placed, running), waitingPod("a", "ContainerCreating"), cannotMount("settings")),
			[]report.Object{{Kind: "ConfigMap", Name: "settings"}}, report.CreateObject, "ConfigMap settings"},
	} {
		got := describe.Why(tc.objects)
		if len(tc.missing) == 0 {
			require.Nil(t, got.Missing, name)
		} else {
			require.Equal(t, tc.missing, got.Missing.Objects, name)
		}
		require.Len(t, got.Suggestions, 1, name)
		require.NotEmpty(t, got.Suggestions[0].Text, name)
		require.Equal(t, []any{tc.kind, tc.value}, []any{got.Suggestions[0].Kind, got.Suggestions[0].Value}, name)
	}
	require.Empty(t, job(v1.Pending, is(v1.ConditionStalled, "QueueNotFound", "x")).PriorityClasses())
}

// The controller knows the scheduler's transient reasons by their names, because it does not import the plugin.
func TestTransientReasonsAreTheControllersToo(t *testing.T) {
	for _, reason := range []report.Reason{
		report.WaitingToBeEnqueued, report.WaitingForPods, report.AssignmentOutdated, report.TerminatingPods, report.InsufficientResources, report.QueueCapacity,
		report.QueueOverused, report.SchedulingGated, report.TopologyNotReady, report.AssignmentNotFound, report.TopologyConstraint, report.PodAntiAffinity,
	} {
		o := with(job(v1.Pending), placed(corev1.ConditionFalse, string(reason), ""))
		o.PodGroup.Status.Conditions[1].LastTransitionTime = ago(5 * time.Second)
		v := &observed.State{Job: o.Job, VolcanoJob: &vcbatch.Job{}, PodGroup: o.PodGroup}
		require.Equal(t, reason.Transient(), lifecycle.SettlingFor(v, now) > 0, reason)
	}
}

func TestLines(t *testing.T) {
	d := describe.Why(with(job(v1.Pending), reports("False", full)))
	require.Equal(t, `  3 of 16 workers do not fit: the cluster has capacity for 15 of the 16 GPUs that the workers need (InsufficientResources).
  What helps:
  - It fits with 13 workers.
  - It fits with 1 GPU more in the cluster.
  - Wait for other jobs to end, or request less.`, strings.Join(describe.Lines(report.English, d.Sentences, false), "\n"))
	require.Contains(t, describe.Lines(report.English, d.Sentences, true), "    workers: 3 of 16 missing")
	d = describe.Why(with(job(v1.Failed, is(v1.ConditionFailed, "PodFailed", "x")), failedPod("a-1", 1)))
	require.Contains(t, describe.Lines(report.English, d.Sentences, false), "    loss is nan", "what pods wrote last")
}

func TestDetailsAreKeptApart(t *testing.T) {
	got := describe.Why(with(job(v1.Pending), reports("False", full)))
	require.Equal(t, []string{"workers: 3 of 16 missing", "nvidia.com/gpu: 16 requested, 15 available"}, got.Sentences[0].Details)
	require.Equal(t, []any{"InsufficientResources", full.Missing, full.Suggestions}, []any{got.Reason, got.Missing, got.Suggestions})
	stale := with(job(v1.Pending), reports("False", full), func(o *describe.Objects) { o.PodGroup.Status.Conditions[1].Reason = "QueueClosed" })
	require.Nil(t, describe.Why(stale).Missing, "the report of another reason is an old one")
	require.Equal(t, []string{"loss is nan"}, describe.Why(with(job(v1.Failed, is(v1.ConditionFailed, "PodFailed", "x")), failedPod("a-1", 1))).Sentences[1].Details)
}

func TestCause(t *testing.T) {
	long := "1 of 5 workers does not fit: the cluster has 12 GPUs left\nmore"
	for name, test := range map[string]struct {
		objects *describe.Objects
		want    [2]string
	}{
		"runs":      {job(v1.Running, is(v1.ConditionReady, "Training", "")), [2]string{"Training"}},
		"waits":     {job(v1.Pending, isNot(v1.ConditionReady, "InsufficientResources", long)), [2]string{"InsufficientResources", "1 of 5 workers does not fit: the cluster has 12 GPUs left"}},
		"goes":      {with(job(v1.Running, isNot(v1.ConditionReady, "PodsStarting", "x")), func(o *describe.Objects) { o.Job.DeletionTimestamp = ptr.To(ago(time.Minute)) }), [2]string{}},
		"not seen":  {with(job(""), func(o *describe.Objects) { o.Job.Status.ObservedGeneration = 0 }), [2]string{"NotProcessed", "the controller has not processed it"}},
		"completed": {job(v1.Completed), [2]string{}},
	} {
		t.Run(name, func(t *testing.T) {
			reason, message := describe.Cause(test.objects.Job, now)
			require.Equal(t, test.want, [2]string{reason, message})
		})
	}
}

func TestRows(t *testing.T) {
	o := with(job(v1.Failed, isNot(v1.ConditionScheduled, "InsufficientResources", "none\nmore")), failedPod("resnet-worker-1", 3), waitingPod("resnet-worker-0", "ImagePullBackOff"), podsRefused)
	rows := describe.PodRows(o)
	require.Len(t, rows, 2)
	for _, row := range rows {
		switch row[2] {
		case "resnet-worker-1":
			require.Equal(t, []string{"worker", "1", "resnet-worker-1", "Failed (exit code 3)", "node-7", "<none>", "0"}, row[:7])
		default:
			require.Equal(t, []string{"resnet-worker-0", "ImagePullBackOff"}, row[2:4])
		}
	}
	require.Equal(t, [][]string{{"Scheduled", "False", "InsufficientResources", "5m", "none"}}, describe.ConditionRows(o))
	require.Equal(t, []string{"Warning", "FailedCreate"}, describe.EventRows(o)[0][:2])
	require.Equal(t, "Job/resnet", describe.EventRows(o)[0][3])
}
