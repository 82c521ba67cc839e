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
)

// What the user may not read must not be taken for missing: a job would be refused for lack of its queue.
func TestUnreadableQueuesAreAnError(t *testing.T) {
	t.Parallel()
	c, server := serve(t, &vcscheduling.Queue{ObjectMeta: metav1.ObjectMeta{Name: "research"}},
		&schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "high"}, Value: 7})
	queue, err := c.queues(t.Context())
	require.NoError(t, err)
	require.NotNil(t, queue("research"))
	require.Nil(t, queue("other"))
	priority, err := c.priorities(t.Context())
	require.NoError(t, err)
	value, ok := priority("high")
	require.True(t, ok)
	require.Equal(t, int32(7), value)
	_, ok = priority("other")
	require.False(t, ok)
	server.Forbidden = []string{"queues", "priorityclasses"}
	_, err = c.queues(t.Context())
	require.ErrorContains(t, err, "list queues: ")
	_, err = c.priorities(t.Context())
	require.ErrorContains(t, err, "list PriorityClasses: ")
}

// The CRD is the controller's if one of its versions has the controller's fields.
func TestWhoseCRD(t *testing.T) {
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
		objects     []runtime.Object
		known, ours bool
	}{
		"none": {}, "paddle-operator's": {[]runtime.Object{crd("cleanPodPolicy")}, true, false}, "the controller's": {[]runtime.Object{crd("runPolicy")}, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, _ := serve(t, test.objects...)
			known, ours, err := c.api(t.Context())
			require.NoError(t, err)
			require.Equal(t, []bool{test.known, test.ours}, []bool{known, ours})
		})
	}
}
