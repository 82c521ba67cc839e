// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/component-helpers/storage/ephemeral"
	"volcano.sh/volcano/pkg/scheduler/api"
	schedulercache "volcano.sh/volcano/pkg/scheduler/cache"
)

// recountVolumes has Volcano's cache count the attachable volumes of pending pods again when a claim of the pods is bound. The cache counts
// them when a pod changes, and a claim that is not bound counts as a volume of its StorageClass's provisioner. No node attaches volumes of
// a provisioner that is not a CSI driver, as one for NFS: without a new count, the pods stay pending although their claim is bound.
func recountVolumes(of schedulercache.Cache) error {
	core := of.SharedInformerFactory().Core().V1()
	counts, ok := of.(*schedulercache.SchedulerCache)
	if !ok {
		return fmt.Errorf("watch volumes: %T is not Volcano's SchedulerCache", of)
	}
	known := func(pod *corev1.Pod) bool { return hasTask(counts, pod) }
	pods := core.Pods().Lister()
	_, err := core.PersistentVolumeClaims().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: func(before, now any) {
		last, _ := before.(*corev1.PersistentVolumeClaim)
		if claim, ok := now.(*corev1.PersistentVolumeClaim); ok && claim.Spec.VolumeName != last.Spec.VolumeName {
			recount(counts, known, pods.Pods(claim.Namespace), claim.Name)
		}
	}})
	// A claim can be known to be bound before its volume is known.
	_, errVolumes := core.PersistentVolumes().Informer().AddEventHandler(cache.ResourceEventHandlerDetailedFuncs{AddFunc: func(obj any, isInInitialList bool) {
		if volume, ok := obj.(*corev1.PersistentVolume); ok && volume.Spec.ClaimRef != nil && !isInInitialList {
			recount(counts, known, pods.Pods(volume.Spec.ClaimRef.Namespace), volume.Spec.ClaimRef.Name)
		}
	}})
	if err := errors.Join(err, errVolumes); err != nil {
		return fmt.Errorf("watch volumes: %w", err)
	}
	return nil
}

// podCache is the part of Volcano's cache that the events of pods change.
type podCache interface {
	UpdatePod(before, now any)
	DeletePod(pod any)
}

// hasTask reports whether the cache has a pod as a task. It does not have those of other schedulers, and must not be given them.
func hasTask(c *schedulercache.SchedulerCache, pod *corev1.Pod) bool {
	c.Lock()
	defer c.Unlock()
	task := api.NewTaskInfo(pod)
	job := c.Jobs[task.Job]
	return job != nil && job.Tasks[task.UID] != nil
}

// recount has the cache read the pods again that it knows, that use a claim and that have no node. The informer may change a pod meanwhile: what it has in
// the end is what the cache is given last.
func recount(c podCache, known func(*corev1.Pod) bool, pods corelisters.PodNamespaceLister, claim string) {
	all, _ := pods.List(labels.Everything()) // a lister's List of everything has no error
	for _, pod := range all {
		if pod.Spec.NodeName != "" || !uses(pod, claim) || !known(pod) {
			continue
		}
		for {
			c.UpdatePod(pod, pod)
			now, err := pods.Get(pod.Name)
			if err != nil || now.UID != pod.UID { // the pod was deleted
				c.DeletePod(pod)
				break
			}
			if now.ResourceVersion == pod.ResourceVersion {
				break
			}
			pod = now
		}
	}
}

// uses reports whether a volume of a pod is that of a claim.
func uses(pod *corev1.Pod, claim string) bool {
	return slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool {
		return v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ClaimName == claim || v.Ephemeral != nil && ephemeral.VolumeClaimName(pod, &v) == claim
	})
}
