// SPDX-License-Identifier: Apache-2.0

package traffic

import (
	"math"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement/gang"
)

// pipelineScale is the weight of the largest flow between two members; others are rounded to fractions of it.
const pipelineScale = 1 << 10

// pipeline returns the traffic of P servers, workers (stage 0) and heter workers of stages 1, 2, ... of Paddle's heter parameter server mode.
//
// Workers of every stage exchange parameters with the servers as in parameterServer: M/P bytes each way between a server
// and a worker. A worker of stage s sends A bytes of activations to the next stage and takes as many bytes of gradients
// back, spread evenly over that stage's n workers. These are A/n bytes each way between a worker of stage s and one of stage s+1,
// where A is taken for M.
// A stage without members is passed over.
func pipeline(total []int, parameterBytes float64) *Flows {
	f := &Flows{Total: make([]int64, len(total))}
	for c, n := range total {
		f.Total[c] = int64(n)
	}
	type flow struct {
		a, b  int
		bytes float64
	}
	var found []flow
	largest, before := 0.0, -1
	add := func(a, b int, bytes float64) {
		found = append(found, flow{a, b, bytes})
		largest = max(largest, bytes)
	}
	for c := gang.WorkerClass; c < len(total); c++ {
		if total[c] == 0 {
			continue
		}
		if total[gang.ServerClass] > 0 {
			add(gang.ServerClass, c, parameterBytes/float64(total[gang.ServerClass]))
		}
		if before >= 0 {
			add(before, c, parameterBytes/float64(total[c]))
		}
		before = c
	}
	if largest == 0 {
		return f
	}
	f.bytes = largest / pipelineScale
	for _, x := range found {
		f.Pairs = append(f.Pairs, Pair{x.a, x.b, int64(math.Round(x.bytes / f.bytes))})
	}
	return f
}
