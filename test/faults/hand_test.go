// SPDX-License-Identifier: Apache-2.0

package faults_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/keys"
)

// Kinds of what a PaddleJob has made for it.
var (
	podGroups   = schema.GroupVersionResource{Group: "scheduling.volcano.sh", Version: "v1beta1", Resource: "podgroups"}
	volcanoJobs = schema.GroupVersionResource{Group: "batch.volcano.sh", Version: "v1alpha1", Resource: "jobs"}
	configMaps  = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
)

// hand is what somebody does to what belongs to a job that runs.
type hand func(d *driver)

// held is a life in which somebody lays hands on what belongs to the job while it runs. All is as before, by itself, and
// the job trains on: its pods are the same.
func held(name string, job v1.PaddleJobSpec, ps, worker string, succeeded int, lay hand) *life {
	return &life{name: name, job: job, drive: func(d *driver) {
		d.awaitRunning(ps, worker, 0, 0)
		if lay != nil {
			before, uids := d.settled(), d.podUIDs()
			lay(d)
			d.awaitObjects("all to be as it was", before)
			require.Equal(d.t, uids, d.podUIDs(), "the pods train on")
		}
		d.succeed()
		d.awaitCompleted(succeeded)
		d.awaitPods(0)
	}}
}

func (d *driver) podUIDs() map[string]types.UID {
	d.t.Helper()
	list, err := cluster.Kube.CoreV1().Pods(d.namespace).List(d.t.Context(), metav1.ListOptions{})
	require.NoError(d.t, err)
	uids := map[string]types.UID{}
	for i := range list.Items {
		uids[list.Items[i].Name] = list.Items[i].UID
	}
	return uids
}

// deletes deletes the only one of a kind that belongs to the job.
func deletes(kind schema.GroupVersionResource) hand {
	return func(d *driver) {
		d.t.Helper()
		require.NoError(d.t, cluster.Dynamic.Resource(kind).Namespace(d.namespace).Delete(d.t.Context(), d.only(kind).GetName(), metav1.DeleteOptions{}))
	}
}

// edits applies a merge patch to the only one of a kind that belongs to the job.
func edits(kind schema.GroupVersionResource, patch map[string]any) hand {
	return func(d *driver) {
		d.t.Helper()
		text, err := json.Marshal(patch)
		require.NoError(d.t, err)
		_, err = cluster.Dynamic.Resource(kind).Namespace(d.namespace).Patch(d.t.Context(), d.only(kind).GetName(), types.MergePatchType, text, metav1.PatchOptions{})
		require.NoError(d.t, err)
	}
}

func metadata(fields map[string]any) map[string]any { return map[string]any{"metadata": fields} }

// only is the only object of a kind that belongs to the job; of pods, the first.
func (d *driver) only(kind schema.GroupVersionResource) *unstructured.Unstructured {
	d.t.Helper()
	list, err := cluster.Dynamic.Resource(kind).Namespace(d.namespace).List(d.t.Context(), metav1.ListOptions{})
	require.NoError(d.t, err)
	var found []*unstructured.Unstructured
	for i := range list.Items {
		if metav1.GetControllerOf(&list.Items[i]) != nil {
			found = append(found, &list.Items[i])
		}
	}
	require.NotEmpty(d.t, found)
	return found[0]
}

func TestChildrenAreEditedByHand(t *testing.T) {
	t.Parallel()
	ps := v1.PaddleJobSpec{PS: role(1), Worker: role(2)}
	service := v1.PaddleJobSpec{Intranet: v1.Service, Worker: role(2)}
	growing := v1.PaddleJobSpec{Elastic: ptr.To(1), ElasticPolicy: &v1.ElasticPolicy{Etcd: "10.0.0.1:2379"}, Worker: elastic(2, 1, 4)}
	label := metadata(map[string]any{"labels": map[string]any{keys.JobName: nil}})
	for base, kind := range map[string]struct {
		job        v1.PaddleJobSpec
		ps, worker string
		hands      map[string]hand
	}{
		"by ip": {job: ps, ps: "1/1", worker: "2/2", hands: map[string]hand{
			"PodGroup deleted":              deletes(podGroups),
			"PodGroup asks for less":        edits(podGroups, map[string]any{"spec": map[string]any{"minMember": 1, "minTaskMember": nil}}),
			"PodGroup without annotations":  edits(podGroups, metadata(map[string]any{"annotations": nil})),
			"PodGroup without an owner":     edits(podGroups, metadata(map[string]any{"ownerReferences": nil})),
			"PodGroup without labels":       edits(podGroups, metadata(map[string]any{"labels": nil})),
			"environment deleted":           deletes(configMaps),
			"environment edited":            edits(configMaps, map[string]any{"data": map[string]any{"PADDLE_TRAINERS_NUM": "7", "MORE": "1", "PADDLE_PORT": nil}}),
			"environment of another gang":   edits(configMaps, metadata(map[string]any{"annotations": map[string]any{keys.Gang: "1"}})),
			"environment without its label": edits(configMaps, label),
			"Volcano Job without its label": edits(volcanoJobs, label),
		}},
		"by service": {job: service, worker: "2/2", hands: map[string]hand{
			"environment deleted":           deletes(configMaps),
			"environment edited":            edits(configMaps, map[string]any{"data": map[string]any{"PADDLE_TRAINERS_NUM": "7"}}),
			"environment without its label": edits(configMaps, label),
		}},
		"elastic": {job: growing, worker: "2/2", hands: map[string]hand{
			"environment deleted": deletes(configMaps),
			"PodGroup deleted":    deletes(podGroups),
		}},
	} {
		calm := held("held "+base, kind.job, kind.ps, kind.worker, 2, nil)
		for name, lay := range kind.hands {
			t.Run(base+"/"+name, func(t *testing.T) {
				t.Parallel()
				undisturbed := calm.undisturbed(t)
				space := cluster.Namespace(t)
				startController(t, space, space)
				held(name, kind.job, kind.ps, kind.worker, 2, lay).liveLike(&driver{t: t, namespace: space, events: true}, undisturbed, "EnvironmentReady")
			})
		}
	}
}

// A gang that starts again must not read the addresses of the dead, also where nobody sees that they are there.
func TestGangRestartsAfterItsEnvironmentLostItsLabel(t *testing.T) {
	t.Parallel()
	space := cluster.Namespace(t)
	startController(t, space, space)
	label := metadata(map[string]any{"labels": map[string]any{keys.JobName: nil}})
	again := &life{name: "again", job: v1.PaddleJobSpec{PS: role(1), Worker: role(2)}, drive: func(d *driver) {
		d.awaitRunning("1/1", "2/2", 0, 0)
		first := d.environment()
		edits(configMaps, label)(d)
		d.fail("worker-0")
		d.awaitRunning("1/1", "2/2", 1, 1)
		require.NotEqual(d.t, first, d.environment())
		d.succeed()
		d.awaitCompleted(2)
	}}
	again.live(&driver{t: t, namespace: space}, func() {})
}

// environment is where the job's workers are, by its ConfigMap.
func (d *driver) environment() (endpoints string) {
	d.t.Helper()
	d.wait("the environment", func(ctx context.Context) error {
		cm, err := cluster.Kube.CoreV1().ConfigMaps(d.namespace).Get(ctx, jobName, metav1.GetOptions{})
		if err == nil {
			endpoints = cm.Data["PADDLE_TRAINER_ENDPOINTS"]
		}
		return err
	})
	return endpoints
}
