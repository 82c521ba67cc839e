// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/keys"
	"github.com/paddle-volcano/paddle-volcano/controller/policy"
	"github.com/paddle-volcano/paddle-volcano/controller/render"
	"github.com/paddle-volcano/paddle-volcano/controller/view"
)

// onHosts selects the Volcano Jobs whose pods have their nodes' addresses.
var onHosts = labels.Set{keys.Intranet: string(v1.Host)}

// takenPorts are the ports that the cache knows other jobs to have.
func (c *Controller) takenPorts(key string) func() []render.Ports {
	return func() []render.Ports {
		jobs, err := c.volcanoJobs.List(onHosts.AsSelector())
		if err != nil {
			utilruntime.HandleError(err)
			return nil
		}
		var taken []render.Ports
		for _, job := range jobs {
			if ports := policy.PortsOf(job); ports.Count > 0 && keyOf(job) != key {
				taken = append(taken, ports)
			}
		}
		return taken
	}
}

// movePorts writes on the Volcano Job where its pods' ports begin.
func (c *Controller) movePorts(ctx context.Context, v *view.View, a policy.MovePorts) error {
	choice := map[string]any{keys.FirstPort: nil}
	written := ""
	if a.First != 0 {
		written = strconv.Itoa(a.First)
		choice[keys.FirstPort] = written
	}
	patch, err := metadata(v.VolcanoJob, choice, onHosts)
	if err != nil {
		return fmt.Errorf("choosing ports: %w", err)
	}
	moved, err := c.clients.Volcano.BatchV1alpha1().Jobs(v.VolcanoJob.Namespace).Patch(ctx, v.VolcanoJob.Name,
		types.MergePatchType, patch, metav1.PatchOptions{FieldManager: FieldManager})
	switch {
	case apierrors.IsConflict(err):
		return fmt.Errorf("choosing ports: %w", errStale)
	case err != nil:
		return fmt.Errorf("choosing ports: %w", err)
	}
	klog.FromContext(ctx).Info("Wrote which ports of nodes the Volcano Job has", "first", a.First)
	c.assumedVolcanoJobs.put(keyOf(moved), moved, v.VolcanoJob.ResourceVersion)
	field := changedEntry("metadata.labels", onHosts, moved.Labels)
	if moved.Annotations[keys.FirstPort] != written {
		field = "metadata.annotations[" + keys.FirstPort + "]"
	}
	if err := changedByAdmission("Volcano Job", moved.Name, field); err != nil {
		return err
	}
	v.VolcanoJob = moved
	return nil
}

// announcePods writes the annotations of pods, through their status so that the controller needs no right to change pods, once a look at all Jobs, not at the cache, shows that nobody else has their ports.
func (c *Controller) announcePods(ctx context.Context, v *view.View, a policy.AnnouncePods) error {
	if a.Ports.Count > 0 {
		if err := c.ownPorts(ctx, v, a.Ports); err != nil {
			return err
		}
	}
	for _, one := range a.Pods {
		patch, err := metadata(one.Pod, one.Annotations, nil)
		if err != nil {
			return fmt.Errorf("telling pod %s its address: %w", one.Pod.Name, err)
		}
		announced, err := c.clients.Kube.CoreV1().Pods(one.Pod.Namespace).Patch(ctx, one.Pod.Name, types.MergePatchType, patch,
			metav1.PatchOptions{FieldManager: FieldManager}, "status")
		switch {
		case apierrors.IsConflict(err), apierrors.IsNotFound(err):
			return fmt.Errorf("telling pod %s its address: %w", one.Pod.Name, errStale)
		case err != nil:
			return refusedOr(fmt.Errorf("telling pod %s its address: %w", one.Pod.Name, err))
		}
		if err := changedByAdmission("pod", announced.Name, changedEntry("metadata.annotations", one.Annotations, announced.Annotations)); err != nil {
			return err
		}
	}
	return nil
}

// ownPorts asks the API server whether the ports are the Volcano Job's and no other's.
func (c *Controller) ownPorts(ctx context.Context, v *view.View, ports render.Ports) error {
	jobs, err := c.clients.Volcano.BatchV1alpha1().Jobs(c.options.Namespace).List(ctx, metav1.ListOptions{LabelSelector: onHosts.String()})
	if err != nil {
		return fmt.Errorf("listing Volcano Jobs with intranet Host: %w", err)
	}
	mine := false
	for i := range jobs.Items {
		other := &jobs.Items[i]
		switch theirs := policy.PortsOf(other); {
		case other.UID == v.VolcanoJob.UID:
			mine = theirs == ports
		case ports.Overlaps(theirs):
			return fmt.Errorf("ports %s are also %s's: %w", ports, keyOf(other), errStale)
		}
	}
	if !mine {
		return fmt.Errorf("ports %s are not the job's any more: %w", ports, errStale)
	}
	return nil
}

// metadata is a merge patch that sets annotations and labels of exactly the object that was seen.
func metadata[V any](object metav1.Object, annotations map[string]V, labels labels.Set) ([]byte, error) {
	changes := map[string]any{"uid": object.GetUID(), "annotations": annotations}
	if labels != nil { // null would take all of them off
		changes["labels"] = labels
	}
	patch, err := json.Marshal(map[string]any{"metadata": changes})
	if err != nil {
		return nil, fmt.Errorf("encoding metadata: %w", err)
	}
	return patch, nil
}
