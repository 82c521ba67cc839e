// SPDX-License-Identifier: Apache-2.0

package traffic

import (
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/gang"
)

// parameterServer is the traffic of P servers and W workers that exchange M bytes of parameters in a step.
//
// Each worker pulls M/P bytes from each server and pushes as many to it. In a domain v with p_v servers and w_v workers:
//
//	X_tier = 2 M (W - sum over domains v of p_v w_v / P)
//	T_v    = (M/P) (p_v (W - w_v) + w_v (P - p_v))
//
// so the unit is M/P, and each pair of a server and a worker has weight 1.
func parameterServer(servers, workers int, parameterBytes float64) *Flows {
	f := &Flows{Total: []int64{int64(servers), int64(workers)}}
	if servers > 0 {
		f.bytes = parameterBytes / float64(servers)
		f.Pairs = []Pair{{gang.ServerClass, gang.WorkerClass, 1}}
	}
	return f
}
