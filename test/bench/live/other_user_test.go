// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/paddle-volcano/paddle-volcano/test/bench/live/times"
)

// A request that takes long delays none of the others, and one that fails is in no wait.
func TestAnswers(t *testing.T) {
	t.Parallel()
	var a answers
	var others sync.WaitGroup
	others.Add(4)
	a.measure(&a.writes, func() error { others.Wait(); return nil })
	for n := range 4 {
		a.measure(&a.reads, func() error {
			defer others.Done()
			if n == 0 {
				return errors.New("429")
			}
			return nil
		})
	}
	sum := a.sum()
	require.Equal(t, []int{4, 1}, []int{sum.Requests, sum.Failed})
	require.Len(t, a.reads, 3)
	require.Equal(t, times.Wait{P50: a.writes[0], P99: a.writes[0], Max: a.writes[0]}, sum.Write)
	require.Positive(t, sum.Write.P50)
}

// slow is an API server that answers when its channel is closed.
type slow struct {
	corev1client.ConfigMapInterface
	answer  chan struct{}
	patched chan string
}

func (s *slow) Patch(_ context.Context, name string, _ types.PatchType, _ []byte, _ metav1.PatchOptions, _ ...string) (*corev1.ConfigMap, error) {
	s.patched <- name
	<-s.answer
	return &corev1.ConfigMap{}, nil
}

func (s *slow) Get(context.Context, string, metav1.GetOptions) (*corev1.ConfigMap, error) {
	<-s.answer
	return &corev1.ConfigMap{}, nil
}

// Writes that are on their way together are of different ConfigMaps.
func TestAsk(t *testing.T) {
	t.Parallel()
	asking, stop := context.WithCancel(t.Context())
	s, result := &slow{answer: make(chan struct{}), patched: make(chan string, configMaps)}, make(chan Answers)
	go ask(t.Context(), asking, s, result)
	first, second := <-s.patched, <-s.patched
	require.NotEqual(t, first, second)
	stop()
	close(s.answer)
	sum := <-result
	require.Zero(t, sum.Failed)
	require.GreaterOrEqual(t, sum.Requests, 4)
}

func TestWritesAndEventsOfAPod(t *testing.T) {
	t.Parallel()
	writes, events := perPod(times.Calls{
		"a": {"create pods/binding": 4, "patch podgroups": 2, "create events": 3, "patch events": 1, "list pods": 9}, "b": {"get pods": 1},
	}, 4)
	require.Equal(t, map[string]float64{"a": 1.5}, writes)
	require.Equal(t, map[string]float64{"a": 1}, events)
}
