// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestGangBeforeSurplus(t *testing.T) {
	inEveryPlacement(t, func(t *testing.T, configuration string) {
		workers, servers := pods("job", "worker", 4, oneCPU), pods("job", "ps", 2, oneCPU)
		for i, pod := range append(workers, servers...) { // older pods are placed first
			pod.CreationTimestamp = metav1.Unix(int64(i), 0)
		}
		// n1: [ps][ps][worker][worker]
		c := newCluster(t, configuration, podGroup("job", 4, twoTwo), workers, servers,
			node("n1", resources{"cpu": "4", "memory": "8Gi"}))
		c.sessions(3, allFour...)
		// n2: [worker][worker]
		c.add(node("n2", resources{"cpu": "2", "memory": "8Gi"}))
		c.sessions(1, append(allFour, "job-worker-2", "job-worker-3")...)
	})
}

// Pods without requests beyond the minimum are bound too, one by one as they fit.
func TestSurplusWithoutRequests(t *testing.T) {
	inEveryPlacement(t, func(t *testing.T, configuration string) {
		// n1: ps ps worker worker worker, no sixth pod is taken
		c := newCluster(t, configuration, podGroup("job", 4, twoTwo), pods("job", "ps", 2, nothing),
			pods("job", "worker", 4, nothing), node("n1", resources{"cpu": "1", "memory": "1Gi", "pods": "5"}))
		c.sessions(3, append(allFour, "job-worker-2")...)
		c.add(node("n2", resources{"cpu": "1", "memory": "1Gi", "pods": "5"}))
		c.sessions(1, append(allFour, "job-worker-2", "job-worker-3")...)
	})
}

// A pod that a scheduling gate holds back counts for no minimum, even if it requests nothing.
