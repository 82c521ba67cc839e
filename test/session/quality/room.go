// SPDX-License-Identifier: Apache-2.0

package quality

import "github.com/paddle-volcano/paddle-volcano/test/session/cluster"

// fitting is how many pods of a request fit into free, up to a number.
func fitting(free, request cluster.Amounts, most int) int {
	for _, pair := range [][2]int64{{free.CPU, request.CPU}, {free.Memory, request.Memory}, {free.GPU, request.GPU}} {
		if pair[1] > 0 {
			most = min(most, int(max(0, pair[0])/pair[1]))
		}
	}
	return most
}

// times is n pods of a request.
func times(request cluster.Amounts, n int) cluster.Amounts {
	k := int64(n)
	return cluster.Amounts{CPU: request.CPU * k, Memory: request.Memory * k, GPU: request.GPU * k}
}

// hasRoom says whether the nodes hold all pods of a job of one or two roles. It is exact: most[n] is how many pods of the
// first role fit beside n of the last, at best.
func hasRoom(nodes cluster.Fleet, job *cluster.Job) bool {
	last := &job.Roles[len(job.Roles)-1]
	first := &cluster.Role{}
	if len(job.Roles) > 1 {
		first = &job.Roles[0]
	}
	const none = -1
	most := make([]int, last.Pods+1)
	for n := range most {
		most[n] = none
	}
	most[0] = 0
	for i := range nodes {
		free := nodes[i].Free()
		here := fitting(free, last.Request, last.Pods)
		if here == 0 && fitting(free, first.Request, first.Pods) == 0 {
			continue
		}
		beside := make([]int, here+1)
		for n := range beside {
			beside[n] = fitting(free.Minus(times(last.Request, n)), first.Request, first.Pods)
		}
		for n := last.Pods; n >= 0; n-- {
			best := none
			for k := 0; k <= min(n, here); k++ {
				if most[n-k] != none {
					best = max(best, min(first.Pods, most[n-k]+beside[k]))
				}
			}
			most[n] = best
		}
	}
	return most[last.Pods] >= first.Pods
}
