// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/record"
	scheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/framework"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
)

// eventSource is who says it, in kubectl describe podgroup.
//
// The session's own recorder will not do: it lets 25 events through about one PodGroup and then one in five minutes
// (client-go's spam filter, by source and object), and the scheduler spends these on an Unschedulable event each second.
const eventSource = "volcano-paddle"

// events is where events go: to the session's API server, by a recorder that lasts as long as the process.
func (s *said) events(ssn *framework.Session) record.EventRecorder {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.recorder == nil {
		broadcaster := record.NewBroadcaster()
		if client := ssn.KubeClient(); client != nil {
			broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: client.CoreV1().Events("")})
		}
		s.recorder = broadcaster.NewRecorder(runtime.NewScheme(), corev1.EventSource{Component: eventSource})
	}
	return s.recorder
}

// record sends an event about a job's PodGroup.
func (s *said) record(ssn *framework.Session, job *api.JobInfo, v verdict) {
	kind := corev1.EventTypeWarning
	if v.reason == report.Placed || v.reason.Transient() {
		kind = corev1.EventTypeNormal
	}
	s.events(ssn).Event(&corev1.ObjectReference{
		APIVersion: scheduling.SchemeGroupVersion.String(),
		Kind:       "PodGroup",
		Namespace:  job.PodGroup.Namespace,
		Name:       job.PodGroup.Name,
		UID:        job.PodGroup.UID,
	}, kind, string(v.reason), report.Shorten(v.text, maxEvent))
}
