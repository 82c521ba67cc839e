// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	scheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	paddlejob "github.com/paddle-volcano/paddle-volcano/plugins/paddle/job"
)

// randomJob is a job of a random cluster, and what must hold of it.
type randomJob struct {
	group *scheduling.PodGroup
	pods  []*corev1.Pod
	hard  bool // within one rack
	near  bool // each worker in the rack of a server
	apart bool // each worker on a node of its own
}

// randomCluster is 2 to 4 racks of 2 to 4 nodes with 1 to 8 GPUs, and 4 to 12 jobs of all kinds that do not all fit.
func randomCluster(seed uint64, others bool) (nodes []*corev1.Node, jobs []randomJob) {
	r := rand.New(rand.NewPCG(seed, 4))
	for rack := range 2 + r.IntN(3) {
		for n := range 2 + r.IntN(3) {
			nodes = append(nodes, gpuNode(fmt.Sprintf("n%d%d", rack, n), fmt.Sprintf("r%d", rack), 1+r.IntN(8)))
		}
	}
	for j := range 4 + r.IntN(9) {
		name := fmt.Sprintf("j%02d", j)
		servers, most := r.IntN(2)*(1+r.IntN(2)), 1+r.IntN(8)
		least := most - r.IntN(most)
		job := randomJob{pods: pods(name, "worker", most, onGPU)}
		minimums := map[string]int32{"worker": int32(least)}
		if servers > 0 {
			job.pods = append(job.pods, pods(name, "ps", servers, onCPU)...)
			minimums["ps"] = int32(servers)
		}
		job.group = ranked(podGroup(name, int32(servers+least), minimums), []string{"high", "low"}[r.IntN(2)], int64(r.IntN(3)))
		switch r.IntN(5) {
		case 0:
			job.hard = true
			within(job.group, hardMode, 1)
		case 1:
			job.near = servers > 0
			colocated(job.group, "Required")
		case 2:
			job.apart = true
			apartFrom(job.pods[:most], name, "worker", corev1.LabelHostname)
		case 3:
			if others {
				each(job.pods, func(pod *corev1.Pod) {
					clear(pod.Labels)
					delete(pod.Annotations, paddlejob.ResourceAnnotation)
				})
			}
		}
		jobs = append(jobs, job)
	}
	return nodes, jobs
}

func addAll(c *cluster, nodes []*corev1.Node, jobs []randomJob) {
	for _, n := range nodes {
		c.add(n)
	}
	for _, job := range jobs {
		c.add(job.group, job.pods)
	}
}

// requireSound requires that no node holds more than it has, that each gang is whole or absent, and that limits hold.
func requireSound(t *testing.T, c *cluster, nodes []*corev1.Node, jobs []randomJob) {
	t.Helper()
	bound := c.nodes()
	rack := map[string]string{}
	for _, n := range nodes {
		rack[n.Name] = n.Labels["rack"]
	}
	used := map[string]corev1.ResourceList{}
	for _, job := range jobs {
		roles, racks, servers, own := map[string]int32{}, map[string]bool{}, map[string]bool{}, map[string]int{}
		for _, pod := range job.pods {
			node, ok := bound[pod.Name]
			if !ok {
				continue
			}
			role := strings.Split(pod.Name, "-")[1]
			roles[role]++
			racks[rack[node]] = true
			servers[rack[node]] = servers[rack[node]] || role == "ps"
			if role == "worker" {
				own[node]++
			}
			used[node] = plus(used[node], pod.Spec.Containers[0].Resources.Requests)
		}
		if len(roles) == 0 {
			continue
		}
		for role, least := range job.group.Spec.MinTaskMember {
			require.GreaterOrEqual(t, roles[role], least, "%s of %s", role, job.group.Name)
		}
		require.False(t, job.hard && len(racks) > 1, "%s is in racks %v", job.group.Name, racks)
		for _, pod := range job.pods {
			if node, ok := bound[pod.Name]; ok && job.near {
				require.True(t, servers[rack[node]], "%s is in a rack without a server", pod.Name)
			}
		}
		for node, n := range own {
			require.False(t, job.apart && n > 1, "%s has %d workers on %s", job.group.Name, n, node)
		}
	}
	for _, n := range nodes {
		for name, quantity := range used[n.Name] {
			require.LessOrEqual(t, quantity.MilliValue(), n.Status.Allocatable.Name(name, "").MilliValue(), "%s of %s", name, n.Name)
		}
	}
}

func plus(sum, more corev1.ResourceList) corev1.ResourceList {
	if sum == nil {
		sum = corev1.ResourceList{}
	}
	for name, quantity := range more {
		total := sum[name]
		total.Add(quantity)
		sum[name] = total
	}
	return sum
}

// Jobs of all kinds compete in random clusters, some end, and others take their place.
func TestRandomJobsAreNeitherDoubleBookedNorBroken(t *testing.T) {
	for seed := range uint64(10) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			nodes, jobs := randomCluster(seed, true)
			c := newPriorities(t, labelled(""))
			addAll(c, nodes, jobs)
			for round := range 4 {
				c.session()
				requireSound(t, c, nodes, jobs)
				for _, status := range c.statuses("") {
					require.Empty(t, status.NominatedNodeName)
				}
				c.run()
				at := slices.IndexFunc(jobs, func(job randomJob) bool { return len(c.count(job.group.Name)) > 0 })
				if round == 0 || at < 0 {
					continue
				}
				for _, pod := range jobs[at].pods {
					c.remove(pod.Name)
				}
				jobs = slices.Delete(jobs, at, at+1)
			}
		})
	}
}

// The same jobs in the same cluster get the same nodes, whatever order maps have.
func TestSameInputSamePlacement(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			var first map[string]string
			for range 3 {
				nodes, jobs := randomCluster(100+seed, false)
				c := newPriorities(t, labelled(""))
				addAll(c, nodes, jobs)
				c.session()
				if first == nil {
					first = c.nodes()
				}
				require.Equal(t, first, c.nodes())
			}
			require.NotEmpty(t, first)
		})
	}
}
