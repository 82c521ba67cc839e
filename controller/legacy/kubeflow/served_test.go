// SPDX-License-Identifier: Apache-2.0

package kubeflow

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
		require.Equal(t, tc.want, served(&discoveryfake.FakeDiscovery{Fake: &clienttesting.Fake{Resources: tc.lists}}), name)
	}
}
