// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"volcano.sh/volcano/pkg/scheduler/api"
)

func TestBindingsAreAFewAtATime(t *testing.T) {
	const atOnce, pods = 3, 40
	var now, most, posted atomic.Int32
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			return
		}
		n := now.Add(1)
		defer now.Add(-1)
		for before := most.Load(); n > before && !most.CompareAndSwap(before, n); before = most.Load() {
		}
		posted.Add(1)
		<-release
		w.Header().Set("Content-Type", "application/json")
		if strings.Contains(r.URL.Path, "/refused/") {
			w.WriteHeader(http.StatusConflict)
			return
		}
		w.WriteHeader(http.StatusCreated)
		_, _ = w.Write([]byte(`{"kind":"Status","apiVersion":"v1","status":"Success"}`))
	}))
	t.Cleanup(server.Close)
	client, err := kubernetes.NewForConfig(&rest.Config{Host: server.URL, QPS: -1})
	require.NoError(t, err)

	b := newBinder(atOnce)
	var all sync.WaitGroup
	refused := make(chan map[api.TaskID]string, pods)
	for i := range pods {
		name := "pod"
		if i == 7 {
			name = "refused"
		}
		task := api.NewTaskInfo(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID(name)}})
		task.NodeName = "n1"
		all.Add(1)
		go func() {
			defer all.Done()
			if why := b.Bind(client, []*api.TaskInfo{task}); len(why) > 0 {
				refused <- why
			}
		}()
	}
	// No request is answered before others could be sent as well.
	for asked := 0; asked < 100 || posted.Load() < atOnce; asked++ {
		_, err := server.Client().Get(server.URL) //nolint:bodyclose,noctx // it has none
		require.NoError(t, err)
	}
	close(release)
	all.Wait()
	require.EqualValues(t, pods, posted.Load())
	require.Len(t, refused, 1)
	require.Contains(t, (<-refused)["refused"], "conflict")
	require.EqualValues(t, atOnce, most.Load())
}
