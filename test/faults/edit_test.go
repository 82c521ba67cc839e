// SPDX-License-Identifier: Apache-2.0

package faults_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
)

// edit is a user's change or deletion of an object that belongs to a running job.
type edit struct {
	kind schema.GroupVersionResource
	// patch is a merge patch; without one the object is deleted.
	patch map[string]any
}

// edited returns a scenario in which a user edits objects of the running job. The controller restores them, and the pods stay.
func edited(name string, job v1.PaddleJobSpec, ps, worker string, edits map[string]edit) *scenario {
	return &scenario{name: name, job: job, drive: func(d *driver) {
		d.awaitRunning(ps, worker, 0, 0)
		if len(edits) > 0 {
			uids := d.podUIDs()
			d.awaitCountedByVolcano(len(uids))
			before := d.settled()
			gang, err := d.environmentGang()
			require.NoError(d.t, err)
			for _, what := range slices.Sorted(maps.Keys(edits)) {
				d.apply(edits[what])
				d.wait("the environment to be that of the gang", func(context.Context) error {
					now, err := d.environmentGang()
					if err == nil && now != gang {
						err = fmt.Errorf("it is that of gang %q, not %q", now, gang)
					}
					return err
				})
				d.awaitObjects("all to be as before: "+what, before)
				require.Equal(d.t, uids, d.podUIDs(), "%s: the pods train on", what)
			}
		}
		d.succeed()
		d.awaitCompleted(2)
		d.awaitPods(0)
	}}
}

// awaitCountedByVolcano waits until the Volcano Job's status has so many pods running. Volcano may write it seconds after the pods run.
func (d *driver) awaitCountedByVolcano(pods int) {
	d.t.Helper()
	d.wait("Volcano to count the pods", func(context.Context) error {
		jobs, err := objectsOf(volcanoJobs, d.namespace)
		if err != nil {
			return err
		}
		for _, job := range jobs {
			if running, _, err := unstructured.NestedInt64(job.Object, "status", "running"); err != nil || running != int64(pods) {
				return errors.Join(err, fmt.Errorf("it counts %d of %d as running", running, pods))
			}
		}
		return nil
	})
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

// apply applies an edit to the first object of its kind that belongs to the job.
func (d *driver) apply(e edit) {
	d.t.Helper()
	found, err := objectsOf(e.kind, d.namespace)
	require.NoError(d.t, err)
	found = slices.DeleteFunc(found, func(object *unstructured.Unstructured) bool { return metav1.GetControllerOf(object) == nil })
	require.NotEmpty(d.t, found)
	object := slices.MinFunc(found, func(a, b *unstructured.Unstructured) int { return strings.Compare(a.GetName(), b.GetName()) })
	client, name := cluster.Dynamic.Resource(e.kind).Namespace(d.namespace), object.GetName()
	if e.patch == nil {
		err = client.Delete(d.t.Context(), name, metav1.DeleteOptions{})
	} else {
		var text []byte
		text, err = json.Marshal(e.patch)
		require.NoError(d.t, err)
		_, err = client.Patch(d.t.Context(), name, types.MergePatchType, text, metav1.PatchOptions{})
	}
	require.NoError(d.t, err)
	d.wait("the informer to see it", func(context.Context) error {
		current, err := objectsOf(e.kind, d.namespace)
		if slices.ContainsFunc(current, func(o *unstructured.Unstructured) bool { return o.GetResourceVersion() == object.GetResourceVersion() }) {
			err = errors.New("it has not")
		}
		return err
	})
}

func metadata(fields map[string]any) map[string]any { return map[string]any{"metadata": fields} }

func TestChildrenAreEditedByHand(t *testing.T) {
	t.Parallel()
	label := metadata(map[string]any{"labels": map[string]any{v1.JobNameLabel: nil}})
	for name, kind := range map[string]struct {
		job        v1.PaddleJobSpec
		ps, worker string
		edits      map[string]edit
	}{
		"by ip": {job: v1.PaddleJobSpec{PS: role(1), Worker: role(2)}, ps: "1/1", worker: "2/2", edits: map[string]edit{
			"PodGroup deleted":              {kind: podGroups},
			"PodGroup asks for less":        {kind: podGroups, patch: map[string]any{"spec": map[string]any{"minMember": 1, "minTaskMember": nil}}},
			"PodGroup without annotations":  {kind: podGroups, patch: metadata(map[string]any{"annotations": nil})},
			"PodGroup without an owner":     {kind: podGroups, patch: metadata(map[string]any{"ownerReferences": nil})},
			"PodGroup without labels":       {kind: podGroups, patch: metadata(map[string]any{"labels": nil})},
			"environment deleted":           {kind: configMaps},
			"environment edited":            {kind: configMaps, patch: map[string]any{"data": map[string]any{"PADDLE_TRAINERS_NUM": "7", "MORE": "1", "PADDLE_PORT": nil}}},
			"environment of another gang":   {kind: configMaps, patch: metadata(map[string]any{"annotations": map[string]any{v1.GangAnnotation: "1"}})},
			"environment without its label": {kind: configMaps, patch: label},
			"Volcano Job without its label": {kind: volcanoJobs, patch: label},
		}},
		"by service": {job: v1.PaddleJobSpec{Intranet: v1.Service, Worker: role(2)}, worker: "2/2", edits: map[string]edit{
			"environment deleted":           {kind: configMaps},
			"environment edited":            {kind: configMaps, patch: map[string]any{"data": map[string]any{"PADDLE_TRAINERS_NUM": "7"}}},
			"environment without its label": {kind: configMaps, patch: label},
		}},
		"elastic": {job: v1.PaddleJobSpec{
			Elastic: ptr.To[int32](1), ElasticPolicy: &v1.ElasticPolicy{Etcd: "10.0.0.1:2379"}, Worker: elastic(2, 1, 4),
		}, worker: "2/2", edits: map[string]edit{
			"environment deleted": {kind: configMaps},
			"PodGroup deleted":    {kind: podGroups},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			undisturbed := edited("edited "+name, kind.job, kind.ps, kind.worker, nil).undisturbed(t)
			space := cluster.Namespace(t)
			startController(t, space, space)
			l := edited(name, kind.job, kind.ps, kind.worker, kind.edits)
			l.runLike(&driver{t: t, namespace: space, events: true}, undisturbed)
		})
	}
}

// A gang that starts again must not read the addresses of deleted pods, also where no watch reports those pods.
func TestGangRestartsAfterItsEnvironmentLostItsLabel(t *testing.T) {
	t.Parallel()
	space := cluster.Namespace(t)
	startController(t, space, space)
	label := metadata(map[string]any{"labels": map[string]any{v1.JobNameLabel: nil}})
	again := &scenario{name: "again", job: v1.PaddleJobSpec{PS: role(1), Worker: role(2)}, drive: func(d *driver) {
		d.awaitRunning("1/1", "2/2", 0, 0)
		d.awaitEnvironment()
		d.apply(edit{kind: configMaps, patch: label})
		d.fail("worker-0")
		d.awaitRunning("1/1", "2/2", 1, 1)
		d.awaitEnvironment() // of other pods, which may have the addresses of the first
		d.succeed()
		d.awaitCompleted(2)
	}}
	again.run(&driver{t: t, namespace: space}, func() {})
}
