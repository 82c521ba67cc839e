// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	paddlejob "github.com/paddle-volcano/paddle-volcano/plugins/paddle/job"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
)

// Events reach the API server under a source of the plugin's own, on the PodGroup.
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
	require.Equal(t, "Warning InsufficientResources the cluster has capacity for 8 of the 18 CPUs that the job needs",
		event.Type+" "+event.Reason+" "+event.Message)
}

// Reasons that change each second make few events about one PodGroup. That it is placed is sent, and so are events about others.
func TestEventsAboutOneJobAreBounded(t *testing.T) {
	c := newCluster(t, shipped, node("n1", resources{"cpu": "8", "memory": "8Gi"}))
	watch, err := c.cache.Client().CoreV1().Events("").Watch(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	defer watch.Stop()
	ssn, p := c.open()
	one, other := paddleJob(t, "one", 0), paddleJob(t, "other", 0)
	one.PodGroup.UID, other.PodGroup.UID = "one", "other"
	for i := range 100 {
		p.state.status.Write(ssn, one, report.Report{
			Reason: []report.Reason{report.InsufficientResources, report.QueueCapacity}[i%2], Message: fmt.Sprintf("%d GPUs", i),
		}, false)
	}
	p.state.status.Write(ssn, one, report.NewPlaced(nil, nil, false), true)
	p.state.status.Write(ssn, other, report.Report{Reason: report.QueueClosed, Message: "closed"}, false)
	sent := 0
	for {
		event, ok := (<-watch.ResultChan()).Object.(*corev1.Event)
		require.True(t, ok)
		if event.Reason == string(report.QueueClosed) {
			break
		}
		sent++
	}
	require.Equal(t, 5+1, sent, "warnings, and one that the job is placed")
}

func TestAnInvalidAnnotationIsAnEventAndTheDefaultHolds(t *testing.T) {
	group := podGroup("j", 2, map[string]int32{"worker": 2})
	group.Annotations = map[string]string{paddlejob.ColocationAnnotation: "close"}
	c := newCluster(t, shipped, gpuNode("n1", "r1", 2), group, pods("j", "worker", 2, onGPU))
	events := c.listen()
	c.session()
	c.session()
	require.Equal(t, []string{"Warning InvalidAnnotation annotation batch.paddlepaddle.org/colocation is \"close\"; " +
		"write Required, Preferred or None; the default holds"}, events())
	require.Equal(t, map[string]string{"j-worker-0": "n1", "j-worker-1": "n1"}, c.nodes())
}
