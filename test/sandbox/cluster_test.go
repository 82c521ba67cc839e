// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"
)

// An API server refuses watches of a new CRD while the watch cache is not filled; a real one does so only under load.
func TestCRDsAreWaitedForUntilTheyCanBeWatched(t *testing.T) {
	crd := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"group": "scheduling.volcano.sh", "names": map[string]any{"plural": "podgroups"},
		"versions": []any{
			map[string]any{"name": "v1alpha1", "served": false},
			map[string]any{"name": "v1beta1", "served": true},
		},
	}}}
	client := fake.NewSimpleDynamicClient(runtime.NewScheme())
	filled := false
	var watched []string
	client.PrependWatchReactor("podgroups", func(action clienttesting.Action) (bool, watch.Interface, error) {
		watched = append(watched, action.GetResource().Version)
		if !filled {
			return true, nil, apierrors.NewTooManyRequests("storage is (re)initializing", 1)
		}
		return true, watch.NewFake(), nil
	})
	c := &cluster{dynamic: client}
	require.ErrorContains(t, c.watchable(context.Background(), crd), "storage is (re)initializing")
	filled = true
	require.NoError(t, c.watchable(context.Background(), crd))
	require.Equal(t, []string{"v1beta1", "v1beta1"}, watched, "a version that is not served cannot be watched")
}
