// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"testing"

	"github.com/stretchr/testify/require"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
)

// What the user may not read must not be taken for missing: a job would be refused for lack of its queue.
func TestUnreadableQueuesAreAnError(t *testing.T) {
	t.Parallel()
	c, server := serve(t, &v1.PaddleJob{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "resnet"}}, &vcscheduling.Queue{ObjectMeta: metav1.ObjectMeta{Name: "research"}},
		&schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "high"}, Value: 7})
	views, err := c.Views(t.Context())
	require.NoError(t, err)
	require.Len(t, views, 1)
	require.NotNil(t, views[0].Queue("research"))
	require.Nil(t, views[0].Queue("other"))
	require.True(t, views[0].PriorityClassExists("high"))
	require.False(t, views[0].PriorityClassExists("other"))
	server.Forbidden = []string{"queues", "priorityclasses"}
	_, err = c.Views(t.Context())
	require.ErrorContains(t, err, "read queues: ")
	require.ErrorContains(t, err, "read PriorityClasses: ")
}

// The CRD is the controller's if one of its versions has the controller's fields.
func TestOwnerOfTheCRD(t *testing.T) {
	t.Parallel()
	crd := func(field string) *unstructured.Unstructured {
		o := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"versions": []any{map[string]any{"name": "v0"}, map[string]any{"schema": map[string]any{
			"openAPIV3Schema": map[string]any{"properties": map[string]any{"spec": map[string]any{"properties": map[string]any{field: map[string]any{}}}}}}}}}}}
		o.SetAPIVersion("apiextensions.k8s.io/v1")
		o.SetKind("CustomResourceDefinition")
		o.SetName("paddlejobs.batch.paddlepaddle.org")
		return o
	}
	for name, test := range map[string]struct {
		objects        []runtime.Object
		known, current bool
	}{
		"none": {}, "paddle-operator's": {[]runtime.Object{crd("cleanPodPolicy")}, true, false}, "the controller's": {[]runtime.Object{crd("runPolicy")}, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, _ := serve(t, test.objects...)
			known, current, err := c.api(t.Context())
			require.NoError(t, err)
			require.Equal(t, []bool{test.known, test.current}, []bool{known, current})
		})
	}
}
