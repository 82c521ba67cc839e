// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"github.com/paddle-volcano/paddle-volcano/controller/keys"
	"github.com/paddle-volcano/paddle-volcano/controller/view"
)

// excuse tells Volcano that workers of an elastic job which somebody has deleted have not failed: Volcano itself where there
// are to be fewer, or whoever drains a node. Programs that are told to end exit with 143 or so; Volcano would take that for
// a failure, and count it for the limit. The programs end, and kubelets tell of it, later than the deletion is seen here.
func (p *Plan) excuse(v *view.View) {
	if v.VolcanoJob.Annotations[keys.Elastic] == "" {
		return
	}
	var action AnnouncePods
	for _, m := range v.Members() {
		if m.State == view.Leaving && m.Pod.Annotations[keys.OutOfSync] == "" {
			action.Pods = append(action.Pods, Announcement{Pod: m.Pod, Annotations: map[string]string{keys.OutOfSync: "true"}})
		}
	}
	if len(action.Pods) > 0 {
		p.do(action)
	}
}
