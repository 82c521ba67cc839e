// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/test/live"
)

// world is what is there.
type world struct {
	jobs    map[string]*v1.PaddleJob
	volcano map[string]*vcbatch.Job
	pods    []corev1.Pod
	// environments are ConfigMaps of jobs, by name.
	environments map[string]bool
	// transient are objects that a job has only while it runs, in words.
	transient []string
	// lasting are objects of Volcano's that may stay as long as their Volcano Job, in words, with its uid: it mostly deletes
	// them at the end, and sometimes does not.
	lasting map[string]types.UID
}

// looked are the kinds of objects that are looked at.
var looked = []schema.GroupVersionResource{
	v1.SchemeGroupVersion.WithResource("paddlejobs"), volcanoJobs, podGroups, configMaps,
	{Group: "bus.volcano.sh", Version: "v1alpha1", Resource: "commands"}, {Version: "v1", Resource: "pods"},
	{Version: "v1", Resource: "services"}, {Group: "networking.k8s.io", Version: "v1", Resource: "networkpolicies"},
}

// look lists all objects. The lists are of different times, so it is called again until the state is as expected.
func look(ctx context.Context, p *live.Plane) (*world, error) {
	w := &world{jobs: map[string]*v1.PaddleJob{}, volcano: map[string]*vcbatch.Job{}, environments: map[string]bool{}, lasting: map[string]types.UID{}}
	for _, kind := range looked {
		list, err := p.Dynamic.Resource(kind).Namespace(namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, fmt.Errorf("look at what is there: %w", err)
		}
		for i := range list.Items {
			if err := w.add(&list.Items[i]); err != nil {
				return nil, fmt.Errorf("look at what is there: %w", err)
			}
		}
	}
	return w, nil
}

// keep writes all that the API server has of the jobs, with their events, into a file: the sandbox is gone soon.
func keep(ctx context.Context, p *live.Plane, path string) error {
	var all bytes.Buffer
	for _, kind := range append(slices.Clone(looked), schema.GroupVersionResource{Version: "v1", Resource: "events"}) {
		list, err := p.Dynamic.Resource(kind).Namespace(namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return fmt.Errorf("keep what is there: %w", err)
		}
		for i := range list.Items {
			list.Items[i].SetManagedFields(nil)
			text, err := yaml.Marshal(list.Items[i].Object)
			if err != nil {
				return fmt.Errorf("keep what is there: %w", err)
			}
			fmt.Fprintf(&all, "---\n%s", text)
		}
	}
	if err := os.WriteFile(path, all.Bytes(), 0o600); err != nil {
		return fmt.Errorf("keep what is there: %w", err)
	}
	return nil
}

func (w *world) add(object *unstructured.Unstructured) error {
	convert := runtime.DefaultUnstructuredConverter.FromUnstructured
	name, kind := object.GetName(), object.GetKind()
	switch kind {
	case v1.Kind:
		w.jobs[name] = &v1.PaddleJob{}
		return convert(object.Object, w.jobs[name])
	case "Job":
		w.volcano[name] = &vcbatch.Job{}
		return convert(object.Object, w.volcano[name])
	case "Pod":
		w.pods = append(w.pods, corev1.Pod{})
		return convert(object.Object, &w.pods[len(w.pods)-1])
	case "PodGroup", "Command":
		w.transient = append(w.transient, kind+" "+name)
	case "ConfigMap":
		// Those of environments belong to PaddleJobs, others to their Volcano Jobs, one has no owner.
		if owner := metav1.GetControllerOf(object); owner != nil && owner.Kind == v1.Kind {
			w.environments[name] = true
		} else if owner != nil {
			w.lasting[kind+" "+name] = owner.UID
		}
	default:
		w.lasting[kind+" "+name] = ownerOf(object)
	}
	return nil
}

// ownerOf returns the controller of an object, empty if there is none.
func ownerOf(object metav1.Object) types.UID {
	if owner := metav1.GetControllerOf(object); owner != nil {
		return owner.UID
	}
	return ""
}

// podsOf returns the pods that a Volcano Job owns.
func (w *world) podsOf(owner types.UID) (own []*corev1.Pod) {
	for i := range w.pods {
		if ownerOf(&w.pods[i]) == owner {
			own = append(own, &w.pods[i])
		}
	}
	return own
}
