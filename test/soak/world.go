// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
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
	// them at the end, and now and then forgets to.
	lasting map[string]types.UID
}

// look lists everything. It is no instant: it is looked at again until it is as it should be.
func look(ctx context.Context, p *live.Plane) (*world, error) {
	w := &world{jobs: map[string]*v1.PaddleJob{}, volcano: map[string]*vcbatch.Job{}, environments: map[string]bool{}, lasting: map[string]types.UID{}}
	all := metav1.ListOptions{}
	for _, list := range []func() error{
		func() error {
			list, err := p.Paddle.BatchV1().PaddleJobs(namespace).List(ctx, all)
			if err == nil {
				for i := range list.Items {
					w.jobs[list.Items[i].Name] = &list.Items[i]
				}
			}
			return err
		},
		func() error {
			list, err := p.Volcano.BatchV1alpha1().Jobs(namespace).List(ctx, all)
			if err == nil {
				for i := range list.Items {
					w.volcano[list.Items[i].Name] = &list.Items[i]
				}
			}
			return err
		},
		func() error {
			list, err := p.Kube.CoreV1().Pods(namespace).List(ctx, all)
			if err == nil {
				w.pods = list.Items
			}
			return err
		},
		func() error {
			list, err := p.Kube.CoreV1().ConfigMaps(namespace).List(ctx, all)
			if err == nil {
				for i := range list.Items {
					w.configMap(&list.Items[i])
				}
			}
			return err
		},
		func() error { return w.passing(ctx, p) },
	} {
		if err := list(); err != nil {
			return nil, fmt.Errorf("look at what is there: %w", err)
		}
	}
	return w, nil
}

// configMap notes one: those of environments belong to PaddleJobs, others to their Volcano Jobs, one to nobody.
func (w *world) configMap(cm *corev1.ConfigMap) {
	owner := metav1.GetControllerOf(cm)
	switch {
	case owner == nil:
	case owner.Kind == v1.Kind:
		w.environments[cm.Name] = true
	default:
		w.lasting["ConfigMap "+cm.Name] = owner.UID
	}
}

// passing lists what no job has that has ended.
func (w *world) passing(ctx context.Context, p *live.Plane) error {
	all := metav1.ListOptions{}
	groups, err := p.Volcano.SchedulingV1beta1().PodGroups(namespace).List(ctx, all)
	if err != nil {
		return err
	}
	for i := range groups.Items {
		w.transient = append(w.transient, "PodGroup "+groups.Items[i].Name)
	}
	commands, err := p.Volcano.BusV1alpha1().Commands(namespace).List(ctx, all)
	if err != nil {
		return err
	}
	for i := range commands.Items {
		w.transient = append(w.transient, "Command "+commands.Items[i].Name)
	}
	services, err := p.Kube.CoreV1().Services(namespace).List(ctx, all)
	if err != nil {
		return err
	}
	for i := range services.Items {
		w.lasting["Service "+services.Items[i].Name] = ownerOf(&services.Items[i])
	}
	policies, err := p.Kube.NetworkingV1().NetworkPolicies(namespace).List(ctx, all)
	if err != nil {
		return err
	}
	for i := range policies.Items {
		w.lasting["NetworkPolicy "+policies.Items[i].Name] = ownerOf(&policies.Items[i])
	}
	return nil
}

// ownerOf is who controls an object, empty if nobody does.
func ownerOf(object metav1.Object) types.UID {
	if owner := metav1.GetControllerOf(object); owner != nil {
		return owner.UID
	}
	return ""
}

// podsOf are the pods that a Volcano Job owns.
func (w *world) podsOf(owner types.UID) (own []*corev1.Pod) {
	for i := range w.pods {
		if ownerOf(&w.pods[i]) == owner {
			own = append(own, &w.pods[i])
		}
	}
	return own
}
