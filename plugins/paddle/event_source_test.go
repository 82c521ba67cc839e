// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/record"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
)

// Events reach the API server under a name of our own, on the PodGroup.
func TestEventsAreWrittenToTheServer(t *testing.T) {
	c := newCluster(t, shipped, podGroup("job", 4, twoTwo), pods("job", "ps", 2, nothing), pods("job", "worker", 2, resources{"cpu": "9"}),
		node("n1", resources{"cpu": "8", "memory": "8Gi"}))
	watch, err := c.cache.Client().CoreV1().Events("").Watch(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	defer watch.Stop()
	c.session()
	event, ok := (<-watch.ResultChan()).Object.(*corev1.Event)
	require.True(t, ok)
	require.Equal(t, corev1.EventSource{Component: "volcano-paddle"}, event.Source)
	require.Equal(t, corev1.ObjectReference{
		Kind: "PodGroup", APIVersion: "scheduling.volcano.sh/v1beta1", Namespace: namespace, Name: "job", UID: "job",
	}, event.InvolvedObject)
	require.Equal(t, "Warning InsufficientResources the cluster has room for 8 of the 18 CPUs that the job's missing pods ask for",
		event.Type+" "+event.Reason+" "+event.Message)
}

func TestEventTypes(t *testing.T) {
	s := newSaid()
	recorder := record.NewFakeRecorder(10)
	s.recorder = recorder
	job := paddleJob(t, "job", 0)
	for reason, want := range map[report.Reason]string{
		report.InsufficientResources: "Warning InsufficientResources text", report.QueueClosed: "Warning QueueClosed text", report.Placed: "Normal Placed text",
		report.WaitingForPods: "Normal WaitingForPods text", report.TerminatingPods: "Normal TerminatingPods text",
	} {
		s.record(nil, job, verdict{reason: reason, text: "text", details: "details"})
		require.Equal(t, want, <-recorder.Events)
	}
	s.record(nil, job, verdict{reason: report.InsufficientResources, text: strings.Repeat("100% ", 999)})
	require.LessOrEqual(t, len(<-recorder.Events), len("Warning InsufficientResources ")+maxEvent)
}
