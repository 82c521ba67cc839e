// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
	topology "volcano.sh/apis/pkg/apis/topology/v1alpha1"

	"github.com/paddle-volcano/paddle-volcano/controller/volcano"
)

// fill writes into each text of a value where it stands, between « and »; numbers stay, but for those that must not be 0.
func fill(v reflect.Value, path string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("«" + path + "»")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(7)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), path)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), path)
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key, path+"{}")
		fill(value, path)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Struct:
		for i := range v.NumField() {
			field := v.Type().Field(i)
			opaque := []string{"resource.Quantity", "v1.Time", "v1.FieldsV1"} // they check what they are made of
			if field.IsExported() && !slices.Contains(opaque, strings.TrimPrefix(field.Type.String(), "*")) {
				fill(v.Field(i), strings.TrimPrefix(path+"."+field.Name, "."))
			}
		}
		if text, ok := v.Addr().Interface().(*intstr.IntOrString); ok {
			text.Type = intstr.String
		}
	case reflect.Uint8:
		v.SetUint(7)
	default:
	}
}

var canary = regexp.MustCompile(`«([^»]*)»`)

// escaped are the paths of the texts that are in what is written of a snapshot.
func escaped(t *testing.T, s *Snapshot) []string {
	t.Helper()
	var text bytes.Buffer
	require.NoError(t, New(s).Write(&text, "x.json"))
	paths := map[string]bool{}
	for _, m := range canary.FindAllStringSubmatch(text.String(), -1) {
		paths[m[1]] = true
	}
	return slices.Sorted(maps.Keys(paths))
}

// what a snapshot keeps of any object's metadata, and of any pod.
var (
	metadata = []string{
		"ObjectMeta.Labels", "ObjectMeta.Labels{}", "ObjectMeta.Name", "ObjectMeta.Namespace", "ObjectMeta.OwnerReferences.APIVersion",
		"ObjectMeta.OwnerReferences.Kind", "ObjectMeta.OwnerReferences.Name", "ObjectMeta.OwnerReferences.UID", "ObjectMeta.UID",
	}
	inPods = []string{
		"Spec.Affinity.*", "Spec.NodeName", "Spec.NodeSelector", "Spec.NodeSelector{}", "Spec.Overhead{}", "Spec.PreemptionPolicy", "Spec.PriorityClassName",
		"Spec.SchedulerName", "Spec.SchedulingGates.Name", "Spec.Tolerations.*", "Spec.TopologySpreadConstraints.*",
		"Spec.Containers.Resources.Limits{}", "Spec.Containers.Resources.Requests{}", "Spec.Containers.RestartPolicy",
		"Spec.Containers.Ports.HostIP", "Spec.Containers.Ports.Protocol",
		"Spec.InitContainers.Resources.Limits{}", "Spec.InitContainers.Resources.Requests{}", "Spec.InitContainers.RestartPolicy",
		"Spec.InitContainers.Ports.HostIP", "Spec.InitContainers.Ports.Protocol",
		"Spec.Resources.Limits{}", "Spec.Resources.Requests{}",
	}
)

// allowed reports whether a list has a path, or what begins like one that ends in *.
func allowed(list []string, path string) bool {
	return slices.ContainsFunc(list, func(one string) bool {
		begin, found := strings.CutSuffix(one, "*")
		return one == path || found && strings.HasPrefix(path, begin)
	})
}

// No text of an object gets into a snapshot but where the scheduler reads it: names of secrets, variables, commands and
// images are texts like all others.
func TestNoOtherFieldIsKept(t *testing.T) {
	job := full[vcbatch.Job](t)
	for name, test := range map[string]struct {
		read *Snapshot
		kept []string
	}{
		"a pod": {&Snapshot{Pods: []*corev1.Pod{full[corev1.Pod](t)}}, slices.Concat(metadata, inPods, []string{
			"Status.Phase", "Status.NominatedNodeName", "Status.Conditions.Type", "Status.Conditions.Status", "Status.Conditions.Reason",
		})},
		"a node": {&Snapshot{Nodes: []*corev1.Node{full[corev1.Node](t)}}, slices.Concat(metadata, []string{
			"Spec.Taints.*", "Status.Capacity{}", "Status.Allocatable{}", "Status.Conditions.Type", "Status.Conditions.Status",
		})},
		"a Volcano Job": {&Snapshot{
			Jobs:      []*vcbatch.Job{job},
			PodGroups: []*vcscheduling.PodGroup{{ObjectMeta: metav1.ObjectMeta{Namespace: job.Namespace, Name: volcano.PodGroupName(job)}}},
		}, slices.Concat(metadata, prefixed("Spec.Tasks.Template.", slices.Concat(metadata, inPods)), []string{
			"Spec.SchedulerName", "Spec.Queue", "Spec.PriorityClassName", "Spec.NetworkTopology.*",
			"Spec.Tasks.Name", "Spec.Tasks.TopologyPolicy", "Spec.Tasks.PartitionPolicy.*",
			"ObjectMeta.Name»-«ObjectMeta.UID",
		})},
		"a HyperNode": {&Snapshot{HyperNodes: []*topology.HyperNode{full[topology.HyperNode](t)}}, slices.Concat(metadata, []string{"Spec.*"})},
		"a queue":     {&Snapshot{Queues: []*vcscheduling.Queue{full[vcscheduling.Queue](t)}}, slices.Concat(metadata, []string{"Spec.*", "Status.State"})},
		"a PodGroup":  {&Snapshot{PodGroups: []*vcscheduling.PodGroup{full[vcscheduling.PodGroup](t)}}, slices.Concat(metadata, []string{"Spec.*", "Status.*"})},
	} {
		t.Run(name, func(t *testing.T) {
			out := escaped(t, test.read)
			require.NotEmpty(t, out)
			for _, path := range out {
				require.True(t, allowed(test.kept, path), "%s gets out", path)
			}
		})
	}
}

// full is an object all of whose texts say where they stand.
func full[T any](t *testing.T) *T {
	t.Helper()
	object := new(T)
	fill(reflect.ValueOf(object).Elem(), "")
	text, err := json.Marshal(object)
	require.NoError(t, err)
	require.Greater(t, len(canary.FindAllString(string(text), -1)), 15, "the object is not full")
	return object
}

func prefixed(prefix string, list []string) []string {
	with := make([]string, len(list))
	for i, one := range list {
		with[i] = prefix + one
	}
	return with
}

func TestOnlyMarksOfVariablesAreKept(t *testing.T) {
	secret := &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{Key: "password"}}
	require.Empty(t, marks([]corev1.EnvVar{{Name: "PASSWORD", Value: "x"}, {Name: "TRAINING_ROLE", Value: "my password"}}))
	require.Empty(t, marks([]corev1.EnvVar{{Name: "PADDLE_SERVING_PASSWORD", Value: "x"}}))
	for _, name := range []string{"PADDLE_TRAINER_PASSWORD", "PADDLE_PSERVERS_PASSWORD"} {
		require.Equal(t, []corev1.EnvVar{{Name: "PADDLE_TRAINER"}}, marks([]corev1.EnvVar{{Name: name, Value: "x", ValueFrom: secret}}))
	}
	require.Equal(t, []corev1.EnvVar{{Name: "TRAINING_ROLE", Value: "PSERVER"}},
		marks([]corev1.EnvVar{{Name: "TRAINING_ROLE", Value: "PSERVER", ValueFrom: secret}, {Name: "PADDLE_TRAINER_ID", Value: "1"}}))
}

func TestAnnotationsOfPaddleAndVolcanoAreKept(t *testing.T) {
	require.Equal(t, map[string]string{
		"scheduling.k8s.io/group-name": "g", "volcano.sh/task-index": "1", "batch.paddlepaddle.org/mode": "PS", "paddle-resource": "ps",
		"topology.paddlepaddle.org/gpu-links": "NV1",
	}, annotations(map[string]string{
		"scheduling.k8s.io/group-name": "g", "volcano.sh/task-index": "1", "batch.paddlepaddle.org/mode": "PS", "paddle-resource": "ps",
		"topology.paddlepaddle.org/gpu-links": "NV1", "kubectl.kubernetes.io/last-applied-configuration": "password", "token": "x", "evilvolcano.sh/x": "y",
	}))
}

func TestWriteAndRead(t *testing.T) {
	one := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "b", Name: "one"}, Spec: corev1.PodSpec{NodeName: "n"}}
	two := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "two"}}
	read := &Snapshot{Pods: []*corev1.Pod{one, two}, SchedulerConfiguration: "actions: \"allocate\"\n", Unread: []Unread{{Queues, "no permission"}}}
	taken := New(read)
	require.Equal(t, "two", taken.Pods[0].Name)
	require.True(t, taken.Lacks(Queues))
	var before string
	for _, name := range []string{"x.json", "x.yaml", "x.yml", "x.json.gz", "x"} {
		var first, repeated bytes.Buffer
		require.NoError(t, taken.Write(&first, name))
		read.Pods = []*corev1.Pod{two, one}
		require.NoError(t, New(read).Write(&repeated, name))
		require.Equal(t, first.Bytes(), repeated.Bytes(), "the order of what was read must not matter")
		back, err := Read(first.Bytes())
		require.NoError(t, err)
		text, err := json.Marshal(back)
		require.NoError(t, err)
		require.True(t, before == "" || before == string(text))
		before = string(text)
		require.Equal(t, taken.Pods, back.Pods)
		require.Equal(t, taken.SchedulerConfiguration, back.SchedulerConfiguration)
	}
	for _, text := range []string{"", "kind: Pod\napiVersion: v1\n", fmt.Sprintf("kind: %s\napiVersion: snapshot.paddlepaddle.org/v9\n", Kind), "[1, 2]", "\x1f\x8bxyz"} {
		_, err := Read([]byte(text))
		require.Error(t, err, "%q", text)
	}
}

func TestOnlyJobsWithoutPodsAreKept(t *testing.T) {
	job := func(name string) *vcbatch.Job {
		return &vcbatch.Job{ObjectMeta: metav1.ObjectMeta{Name: name, UID: "1", Namespace: "ns"}}
	}
	group := func(name string, phase vcscheduling.PodGroupPhase) *vcscheduling.PodGroup {
		return &vcscheduling.PodGroup{ObjectMeta: metav1.ObjectMeta{Name: name + "-1", Namespace: "ns"}, Status: vcscheduling.PodGroupStatus{Phase: phase}}
	}
	s := New(&Snapshot{
		Jobs: []*vcbatch.Job{job("waits"), job("runs"), job("has-pods"), job("no-group")},
		PodGroups: []*vcscheduling.PodGroup{
			group("waits", vcscheduling.PodGroupInqueue), group("runs", vcscheduling.PodGroupRunning), group("has-pods", vcscheduling.PodGroupInqueue),
		},
		Pods: []*corev1.Pod{{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Annotations: map[string]string{"scheduling.k8s.io/group-name": "has-pods-1"}}}},
	})
	require.Len(t, s.Jobs, 1)
	require.Equal(t, "waits", s.Jobs[0].Name)
}
