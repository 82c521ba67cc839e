// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"testing"

	"github.com/stretchr/testify/require"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kubefake "k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
	vcfake "volcano.sh/apis/pkg/client/clientset/versioned/fake"
)

// refuses makes a fake client answer a list with an error.
func refuses(client interface {
	PrependReactor(verb, resource string, reaction clienttesting.ReactionFunc)
}, resource string, err error) {
	client.PrependReactor("list", resource, func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, err })
}

// What the user may not read must not be taken for missing: a job would be refused for lack of its queue.
func TestUnreadableQueuesAreAnError(t *testing.T) {
	volcano := vcfake.NewSimpleClientset(&vcscheduling.Queue{ObjectMeta: metav1.ObjectMeta{Name: "research"}})
	kube := kubefake.NewSimpleClientset(&schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "high"}, Value: 7})
	c := &Clients{Kube: kube, Volcano: volcano}
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

	queues := schema.GroupResource{Group: "scheduling.volcano.sh", Resource: "queues"}
	refuses(volcano, "queues", apierrors.NewNotFound(queues, ""))
	queue, err = c.queues(t.Context())
	require.NoError(t, err, "without Volcano there are no queues")
	require.Nil(t, queue("research"))
	refuses(volcano, "queues", apierrors.NewForbidden(queues, "", nil))
	_, err = c.queues(t.Context())
	require.ErrorContains(t, err, "list queues: ")
	refuses(kube, "priorityclasses", apierrors.NewForbidden(schema.GroupResource{Resource: "priorityclasses"}, "", nil))
	_, err = c.priorities(t.Context())
	require.ErrorContains(t, err, "list PriorityClasses: ")
}
