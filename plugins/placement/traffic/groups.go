// SPDX-License-Identifier: Apache-2.0

package traffic

// GroupWeight is how many times more a parallel group talks inside than the ring does: on default weights it is worth more to
// keep one group in a node than anything else.
const GroupWeight = 64

// groupCuts returns what a cut between two members costs more if it goes through a parallel group: a ring of its own that is cut
// has two ends. Where no end of a run is given, as many whole groups as can be are kept together.
func (c *Ring) groupCuts(position int64) int64 {
	if c.Group > 1 && position%c.Length%c.Group != 0 {
		return 2 * GroupWeight
	}
	return 0
}

// PodsPerGroup returns how many pods of so many GPUs share no parallel group with others: 1 if each group is inside one pod.
func PodsPerGroup(size, gpus int) int64 {
	if size <= 1 || gpus%size == 0 {
		return 1
	}
	pods := 1
	for pods*gpus%size != 0 {
		pods++
	}
	return int64(pods)
}
