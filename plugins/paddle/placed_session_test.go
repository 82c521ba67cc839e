// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"volcano.sh/apis/pkg/apis/scheduling"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
)

// Volcano's Job controller warns of the PodGroup's latest condition that is true, unless it is Scheduled (recordPodGroupEvent,
// pkg/controllers/job/job_controller_actions.go); plugins close in any order. A gang that is placed is nothing to warn of.
//
//	n1
//	 8  GPUs free
func TestVolcanoDoesNotWarnOfAGangThatIsPlaced(t *testing.T) {
	for range 10 {
		c := newCluster(t, labelled(""), podGroup("job", 8, map[string]int32{"worker": 8}))
		c.session() // waits for pods: the condition is there before Volcano's
		c.add(gpuNode("n1", "r1", 8), pods("job", "worker", 8, onGPU))
		c.session()
		require.Equal(t, corev1.ConditionTrue, c.condition("job").Status)
		var latest scheduling.PodGroupCondition
		c.cache.Lock()
		conditions := c.cache.Jobs["ns/job"].PodGroup.Status.Conditions
		c.cache.Unlock()
		for _, condition := range conditions {
			condition.LastTransitionTime = condition.LastTransitionTime.Rfc3339Copy()
			if condition.Status == corev1.ConditionTrue && (latest.Type == "" || condition.LastTransitionTime.After(latest.LastTransitionTime.Time)) {
				latest = condition
			}
		}
		require.NotEqual(t, report.Condition, string(latest.Type), "%+v", conditions)
	}
}
