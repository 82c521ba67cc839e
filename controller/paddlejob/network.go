// SPDX-License-Identifier: Apache-2.0

package paddlejob

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/lifecycle"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
)

// hostJobs selects the Volcano Jobs whose pods have their nodes' addresses.
var hostJobs = labels.Set{v1.IntranetAnnotation: string(v1.Host)}

// takenPorts are the ports that the cache knows other jobs to have.
func (c *Controller) takenPorts(key string) func() []builder.Ports {
	return func() []builder.Ports {
		jobs, err := c.volcanoJobs.List(hostJobs.AsSelector())
		if err != nil {
			utilruntime.HandleError(err)
			return nil
		}
		var taken []builder.Ports
		for _, job := range jobs {
			if ports := lifecycle.PortsOf(job); ports.Count > 0 && keyOf(job) != key {
				taken = append(taken, ports)
			}
		}
		return taken
	}
}

// movePorts writes on the Volcano Job where its pods' ports begin.
func (c *Controller) movePorts(ctx context.Context, obs *observed.State, a lifecycle.MovePorts) error {
	choice := map[string]any{v1.FirstPortAnnotation: nil}
	written := ""
	if a.First != 0 {
		written = strconv.Itoa(a.First)
		choice[v1.FirstPortAnnotation] = written
	}
	if err := c.patchVolcanoJob(ctx, obs, metadata(obs.VolcanoJob, choice, hostJobs), "choosing ports", func(have *vcbatch.Job) string {
		if have.Annotations[v1.FirstPortAnnotation] != written {
			return "metadata.annotations[" + v1.FirstPortAnnotation + "]"
		}
		return changedEntry("metadata.labels", hostJobs, have.Labels)
	}); err != nil {
		return err
	}
	klog.FromContext(ctx).Info("Set the ports of nodes of the Volcano Job", "first", a.First)
	return nil
}

// announcePods writes the annotations of pods, through their status so that the controller needs no permission to change pods, once a list of all Jobs from the API server, not the cache, shows that no other job has their ports.
func (c *Controller) announcePods(ctx context.Context, obs *observed.State, a lifecycle.AnnouncePods) error {
	if a.Ports.Count > 0 {
		if err := c.ownPorts(ctx, obs, a.Ports); err != nil {
			return err
		}
	}
	for _, one := range a.Pods {
		patch, err := json.Marshal(metadata(one.Pod, one.Annotations, nil))
		if err != nil {
			return fmt.Errorf("annotating pod %s: %w", one.Pod.Name, err)
		}
		announced, err := c.clients.Kube.CoreV1().Pods(one.Pod.Namespace).Patch(ctx, one.Pod.Name, types.MergePatchType, patch,
			metav1.PatchOptions{FieldManager: FieldManager}, "status")
		if err != nil {
			return writeError(err, "annotating pod "+one.Pod.Name)
		}
		if err := changedByAdmission("pod", announced.Name, changedEntry("metadata.annotations", one.Annotations, announced.Annotations)); err != nil {
			return err
		}
	}
	return nil
}

// ownPorts returns an error unless the ports are the Volcano Job's and no other's, by a list from the API server.
func (c *Controller) ownPorts(ctx context.Context, obs *observed.State, ports builder.Ports) error {
	jobs, err := c.clients.Volcano.BatchV1alpha1().Jobs(c.options.Namespace).List(ctx, metav1.ListOptions{LabelSelector: hostJobs.String()})
	if err != nil {
		return fmt.Errorf("listing Volcano Jobs with intranet Host: %w", err)
	}
	owned := false
	for i := range jobs.Items {
		other := &jobs.Items[i]
		switch taken := lifecycle.PortsOf(other); {
		case other.UID == obs.VolcanoJob.UID:
			owned = taken == ports
		case ports.Overlaps(taken):
			return fmt.Errorf("ports %s are also %s's: %w", ports, keyOf(other), errStale)
		}
	}
	if !owned {
		return fmt.Errorf("ports %s are no longer the job's: %w", ports, errStale)
	}
	return nil
}

// metadata is a merge patch that sets annotations and labels of exactly the object that was seen.
func metadata[V any](object metav1.Object, annotations map[string]V, labels labels.Set) map[string]any {
	changes := map[string]any{"uid": object.GetUID(), "annotations": annotations}
	if labels != nil { // null would remove all of them
		changes["labels"] = labels
	}
	return map[string]any{"metadata": changes}
}

// writeEnvironment creates the ConfigMap that the containers wait for, or repairs the job's own.
func (c *Controller) writeEnvironment(ctx context.Context, obs *observed.State, a lifecycle.WriteEnvironment) error {
	configMaps := c.clients.Kube.CoreV1().ConfigMaps(a.ConfigMap.Namespace)
	var written *corev1.ConfigMap
	var err error
	over := ""
	if a.Old == nil {
		written, err = configMaps.Create(ctx, a.ConfigMap, metav1.CreateOptions{FieldManager: FieldManager})
	} else {
		over = a.Old.ResourceVersion
		restored := a.ConfigMap.DeepCopy()
		restored.ResourceVersion = over
		written, err = configMaps.Update(ctx, restored, metav1.UpdateOptions{FieldManager: FieldManager})
	}
	if apierrors.IsAlreadyExists(err) {
		return c.uncachedEnvironment(ctx, obs, a)
	}
	if err != nil {
		return writeError(err, "writing the ConfigMap of the environment")
	}
	c.mutatedEnvironments.put(keyOf(written), mutation[*corev1.ConfigMap]{written, over, c.now()})
	if err := changedByAdmission("ConfigMap", written.Name, cmp.Or(
		changedEntry("data", a.ConfigMap.Data, written.Data),
		changedEntry("metadata.labels", a.ConfigMap.Labels, written.Labels),
		changedEntry("metadata.annotations", a.ConfigMap.Annotations, written.Annotations),
	)); err != nil {
		return err
	}
	obs.Environment = written
	return nil
}

// uncachedEnvironment distinguishes a ConfigMap of another owner from the job's own that the cache does not have: not yet, or because
// another program removed its label, and then it is repaired.
func (c *Controller) uncachedEnvironment(ctx context.Context, obs *observed.State, a lifecycle.WriteEnvironment) error {
	found, err := c.clients.Kube.CoreV1().ConfigMaps(obs.Job.Namespace).Get(ctx, obs.Job.Name, metav1.GetOptions{})
	switch {
	case err != nil:
		return fmt.Errorf("reading the ConfigMap of the job's name: %w", err)
	case !metav1.IsControlledBy(found, obs.Job):
		return &rejection{reason: lifecycle.ReasonNameTaken, text: fmt.Sprintf(
			"a ConfigMap named %s exists and does not belong to this job, whose pods wait for one of that name: delete or rename it", found.Name)}
	case found.Labels[v1.JobNameLabel] != "" || found.DeletionTimestamp != nil:
		return fmt.Errorf("the ConfigMap of the environment already exists: %w", errStale)
	}
	a.Old = found
	return c.writeEnvironment(ctx, obs, a)
}
