// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
)

// What Volcano writes to each pod of a gang that waits does not change with what is free in the cluster; the condition
// PaddleScheduled, which is one object, has the amounts.
func TestPodsOfAWaitingGangAreNotWrittenAgainAsAmountsChange(t *testing.T) {
	objects := []any{podGroup("job", 4, twoTwo), pods("job", "ps", 2, oneCPU), pods("job", "worker", 2, resources{"cpu": "6"}),
		node("n1", resources{"cpu": "8", "memory": "64Gi"}), node("n2", resources{"cpu": "5", "memory": "64Gi"})}
	c := newCluster(t, shipped, objects...)
	c.session()
	const wait = "the gang waits (InsufficientResources): condition PaddleScheduled of the PodGroup has the details"
	for i := range 4 {
		other := plainPods(fmt.Sprint("other", i), "task", 1, oneCPU)
		other[0].Spec.NodeName = "n2"
		other[0].Status.Phase = corev1.PodRunning
		c.add(other)
		for range 2 {
			c.session()
			for _, pod := range allFour {
				require.Equal(t, wait, c.podMessage(pod))
			}
		}
		require.Equal(t, string(report.InsufficientResources), c.condition("job").Reason)
	}
}
