// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/render"
	"github.com/paddle-volcano/paddle-volcano/controller/view"
)

// mostRefs is how many pods of a role the status points to: it is written often, and must not grow with the gang.
const mostRefs = 10

// countRoles counts the pods of each role.
func countRoles(next *v1.PaddleJobStatus, v *view.View) {
	members, ended := v.Members(), over(next)
	next.PS = countRole(v, render.RolePS, members, next.PS, ended)
	next.Worker = countRole(v, render.RoleWorker, members, next.Worker, ended)
	next.Heter = countRole(v, render.RoleHeter, members, next.Heter, ended)
}

func countRole(v *view.View, role string, members []*view.Member, before *v1.ResourceStatus, ended bool) *v1.ResourceStatus {
	total, _ := v.Size(role)
	if total <= 0 && before == nil && view.Spec(v.Job, role) == nil {
		return nil
	}
	count := &v1.ResourceStatus{}
	for _, m := range members {
		if m.Role == role && (!ended || m.State == view.Succeeded || m.State == view.Failed) {
			add(count, m)
		}
	}
	count.Ready = fmt.Sprintf("%d/%d", count.Running, total)
	if ended {
		remember(count, before, total, !view.Finished(v.Job))
	}
	return count
}

// remember keeps of an ended job's role what was true at the end, whatever becomes of its pods.
func remember(count, before *v1.ResourceStatus, total int32, first bool) {
	count.Pending, count.Starting, count.Running, count.Unknown = 0, 0, 0, 0
	count.Ready = fmt.Sprintf("0/%d", total)
	if before == nil {
		return
	}
	count.Succeeded = max(count.Succeeded, before.Succeeded)
	count.Failed = max(count.Failed, before.Failed)
	if !first && len(before.Refs) > len(count.Refs) {
		count.Refs = before.Refs
	}
}

func add(count *v1.ResourceStatus, m *view.Member) {
	switch m.State {
	case view.Unplaced:
		count.Pending++
	case view.Starting:
		count.Starting++
	case view.Running:
		count.Running++
	case view.Succeeded:
		count.Succeeded++
	case view.Failed:
		count.Failed++
	case view.Unknown:
		count.Unknown++
	case view.Leaving:
		return
	}
	if len(count.Refs) == mostRefs {
		return
	}
	count.Refs = append(count.Refs, corev1.ObjectReference{
		APIVersion: "v1", Kind: "Pod", Namespace: m.Pod.Namespace, Name: m.Pod.Name, UID: m.Pod.UID,
	})
}
