// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"volcano.sh/apis/pkg/apis/scheduling"
	"volcano.sh/volcano/pkg/scheduler/api"
)

// condition is the PodGroup's condition of our type.
func (c *cluster) condition(group string) scheduling.PodGroupCondition {
	c.cache.Lock()
	defer c.cache.Unlock()
	condition, _ := conditionOf(c.cache.Jobs[api.JobID(namespace+"/"+group)].PodGroup.Status.Conditions)
	return condition
}
