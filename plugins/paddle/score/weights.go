// SPDX-License-Identifier: Apache-2.0

package score

// Scores of nodes, in units of the argument weight. Volcano adds those of all plugins.
const (
	// best is the score of the best node by traffic, the most that a plugin of Volcano gives before weights
	// (k8s.io/kube-scheduler/framework.MaxNodeScore). The worst node by traffic has 0.
	best = 100
	// planned is the score of the node that a new plan has for the task.
	planned = best
	// failed is the score of a node on which a pod of the job failed, in addition: it comes after all others.
	failed = -(best + 1)
)
