// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Two gangs of 3 wait, and there is capacity for one: Volcano's order of queues and jobs decides, each time, whichever of the
// two would be cheaper to place.
//
//	     r1            r2                                        r3
//	 n1      n2        n3                                        n4
//	2 GPUs  1 GPU     2 GPUs (all used by a job of queue q1)    9 GPUs, tainted: queues have them, pods do not
func TestOrderDecidesWhichGangStarts(t *testing.T) {
	for _, test := range []struct {
		name             string
		classA, classB   string
		ageA, ageB       int64
		queueA, queueB   string
		serversA, needsA int
		starts           string
	}{
		{name: "priority", classA: "low", classB: "high", ageA: 1, ageB: 2, queueA: "q1", queueB: "q1", starts: "b"},
		{name: "age", classA: "low", classB: "low", ageA: 2, ageB: 1, queueA: "q1", queueB: "q1", starts: "b"},
		{name: "name", classA: "low", classB: "low", ageA: 1, ageB: 1, queueA: "q1", queueB: "q1", starts: "a"},
		{name: "queue that has less", classA: "high", classB: "low", ageA: 1, ageB: 2, queueA: "q1", queueB: "q2", starts: "b"},
		{name: "first one does not fit", classA: "high", classB: "low", ageA: 1, ageB: 2, queueA: "q1", queueB: "q1", needsA: 1, starts: "b"},
		{name: "first one is dearer", classA: "high", classB: "low", ageA: 1, ageB: 2, queueA: "q1", queueB: "q1", serversA: 2, starts: "a"},
	} {
		t.Run(test.name, func(t *testing.T) {
			for range 2 {
				a, ofA := ring("a", 3+test.needsA)
				b, ofB := ring("b", 3)
				if test.serversA > 0 {
					a.Spec.MinTaskMember["ps"] = int32(test.serversA)
					a.Spec.MinMember += int32(test.serversA)
					ofA = append(ofA, pods("a", "ps", test.serversA, onCPU)...)
				}
				c := newPriorities(t, labelled(""), queue("q1", nil), queue("q2", nil),
					gpuNode("n1", "r1", 2), gpuNode("n2", "r1", 1), gpuNode("n3", "r2", 2), tainted(gpuNode("n4", "r3", 9), "broken"),
					started(inQueue(podGroup("o", 2, nil), "q1")), running(plainPods("o", "task", 2, onGPU), "n3"),
					inQueue(ranked(a, test.classA, test.ageA), test.queueA), ofA,
					inQueue(ranked(b, test.classB, test.ageB), test.queueB), ofB)
				c.session()
				c.session()
				starts := map[string]int{"a": len(ofA), "b": len(ofB)}
				for job, all := range starts {
					if job != test.starts {
						all = 0
					}
					require.Len(t, prefixed(c.bound(), job+"-"), all, job)
				}
			}
		})
	}
}

func prefixed(names []string, prefix string) []string {
	var found []string
	for _, name := range names {
		if len(name) > len(prefix) && name[:len(prefix)] == prefix {
			found = append(found, name)
		}
	}
	return found
}
