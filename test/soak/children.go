// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Kinds of what jobs have made for them.
var (
	volcanoJobs = schema.GroupVersionResource{Group: "batch.volcano.sh", Version: "v1alpha1", Resource: "jobs"}
	podGroups   = schema.GroupVersionResource{Group: "scheduling.volcano.sh", Version: "v1beta1", Resource: "podgroups"}
	configMaps  = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
)

// child is any object of a kind that belongs to one of the round's jobs, "" if there is none.
func (a *actor) child(ctx context.Context, kind schema.GroupVersionResource) (name string, of *job, err error) {
	list, err := a.Dynamic.Resource(kind).Namespace(namespace).List(ctx, metav1.ListOptions{})
	if err != nil || len(list.Items) == 0 {
		return "", nil, err
	}
	object := &list.Items[a.r.IntN(len(list.Items))]
	owner := metav1.GetControllerOf(object)
	if owner == nil {
		return "", nil, nil
	}
	return object.GetName(), a.any(func(j *job) bool { return j.name == owner.Name }), nil
}

// deleteChild deletes what the controller has made; it makes it again as long as the job needs it.
func (a *actor) deleteChild(ctx context.Context) (bool, error) {
	kind := []schema.GroupVersionResource{volcanoJobs, podGroups, configMaps}[a.r.IntN(3)]
	name, of, err := a.child(ctx, kind)
	if err != nil || of == nil {
		return false, err
	}
	if kind == volcanoJobs {
		of.orphaned = true
	}
	return true, butGone(a.Dynamic.Resource(kind).Namespace(namespace).Delete(ctx, name, metav1.DeleteOptions{}))
}

// editChild changes what the controller has made; it mends it.
func (a *actor) editChild(ctx context.Context) (bool, error) {
	kind, patch := podGroups, `{"spec":{"minMember":1},"metadata":{"labels":null}}`
	if a.r.IntN(2) == 0 {
		kind, patch = configMaps, `{"data":{"PADDLE_TRAINERS_NUM":"77"}}`
	}
	name, of, err := a.child(ctx, kind)
	if err != nil || of == nil {
		return false, err
	}
	_, err = a.Dynamic.Resource(kind).Namespace(namespace).Patch(ctx, name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	return true, butGone(err)
}
