// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"testing"

	"github.com/stretchr/testify/require"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
