// SPDX-License-Identifier: Apache-2.0

package kubeflow

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	discoveryfake "k8s.io/client-go/discovery/fake"
	clienttesting "k8s.io/client-go/testing"
)

func TestServed(t *testing.T) {
	t.Parallel()
	resources := func(names ...string) []*metav1.APIResourceList {
		list := &metav1.APIResourceList{GroupVersion: "kubeflow.org/v1"}
		for _, name := range names {
			list.APIResources = append(list.APIResources, metav1.APIResource{Name: name})
		}
		return []*metav1.APIResourceList{list}
	}
	for name, tc := range map[string]struct {
		lists []*metav1.APIResourceList
		want  bool
	}{
		"no group":         {},
		"other kinds only": {lists: resources("pytorchjobs")},
		"among others":     {lists: resources("pytorchjobs", "paddlejobs", "paddlejobs/status"), want: true},
	} {
		is, err := served(&discoveryfake.FakeDiscovery{Fake: &clienttesting.Fake{Resources: tc.lists}})
		require.NoError(t, err, name)
		require.Equal(t, tc.want, is, name)
	}
}

// The controller neither crashes nor gives up while there is no CRD.
func TestAwaitServed(t *testing.T) {
	t.Parallel()
	fake := &clienttesting.Fake{}
	asked := 0
	fake.PrependReactor("get", "resource", func(clienttesting.Action) (bool, runtime.Object, error) {
		asked++
		if asked == 1 {
			return true, nil, errors.New("not now")
		}
		if asked == 3 {
			fake.Resources = []*metav1.APIResourceList{{GroupVersion: "kubeflow.org/v1", APIResources: []metav1.APIResource{{Name: "paddlejobs"}}}}
		}
		return false, nil, nil
	})
	require.NoError(t, awaitServed(t.Context(), &discoveryfake.FakeDiscovery{Fake: fake}, time.Millisecond))
	require.Equal(t, 3, asked)

	ended, end := context.WithCancel(t.Context())
	end()
	require.ErrorIs(t, awaitServed(ended, &discoveryfake.FakeDiscovery{Fake: &clienttesting.Fake{}}, time.Millisecond), context.Canceled)
}
