// SPDX-License-Identifier: Apache-2.0

package builder

import (
	"cmp"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
)

const (
	// firstPort is the first port of a pod that does not share its address.
	firstPort = 36000
	// ports is how many ports a pod has, in one block: the first is the server's own, or the launcher's master's; the last
	// but one is gloo's, and the last that of frontEndContract's master; those between are for the processes that a launcher starts.
	ports = 20
	// glooOffset is where, in its block, server 0 serves gloo's rendezvous: not at the server's own port, on which two
	// could not listen.
	glooOffset = ports - 2
)

// Ports is a range of ports of nodes.
type Ports struct{ First, Count int }

// DefaultHostPorts lie below those that Linux (32768) and Kubernetes (30000) hand out, and above what most programs use.
func DefaultHostPorts() Ports { return Ports{First: 20000, Count: 10000} }

// ParsePorts reads a range written as first-last.
func ParsePorts(text string) (Ports, error) {
	low, high, _ := strings.Cut(text, "-")
	first, err := strconv.Atoi(low)
	last, err2 := strconv.Atoi(high)
	if err != nil || err2 != nil || first < 1024 || last > 65535 || last-first+1 < ports {
		return Ports{}, fmt.Errorf("%q is not a range of ports: use FIRST-LAST, from 1024 to 65535, with at least %d ports", text, ports)
	}
	return Ports{First: first, Count: last - first + 1}, nil
}

func (p Ports) String() string { return fmt.Sprintf("%d-%d", p.First, p.First+p.Count-1) }

// Overlaps reports whether a port is in both.
func (p Ports) Overlaps(q Ports) bool { return p.First < q.First+q.Count && q.First < p.First+p.Count }

// Usable returns how many of the ports can be given to pods, each of which has a block.
func (p Ports) Usable() int { return p.Count / ports * ports }

// HostPortsOf returns the ports that jobs with intranet Host may use.
func HostPortsOf(cfg Config) Ports { return cmp.Or(cfg.HostPorts, DefaultHostPorts()) }

// HostPorts reports whether each pod of a job needs distinct ports because it has its node's address. Elastic workers
// choose free ports themselves, and exchange them.
func HostPorts(job *v1.PaddleJob, cfg Config) bool {
	return Intranet(job, cfg) == v1.Host && !Elastic(job)
}

// Announced reports whether the job's pods are given by annotation what their template cannot know: their ports, and which of
// their IPs is the one that counts.
func Announced(job *v1.PaddleJob, cfg Config) bool {
	return HostPorts(job, cfg) || cfg.AnnouncePodIPs && !Elastic(job) && Intranet(job, cfg) == v1.PodIP
}

// PortsNeeded is how many ports the job's pods need in all.
func PortsNeeded(job *v1.PaddleJob) int { return int(min(Total(job), maxPods)) * ports }

// maxPods bounds a product.
const maxPods = 1 << 20

// ChoosePorts returns where a job's ports can begin so that they overlap with none that are taken, and false if no row of
// ports is free. The search starts at a place that the seed decides, so that jobs which choose at the same time, and do not see
// each other, rarely choose the same.
func ChoosePorts(all Ports, count int, taken []Ports, seed string) (first int, ok bool) {
	slots := all.Count / ports
	if count <= 0 || count > slots*ports {
		return 0, false
	}
	var start uint
	for _, char := range []byte(digest([]byte(seed))) {
		start = start*31 + uint(char)
	}
	for i := range slots {
		block := Ports{First: all.First + (int(start%uint(slots))+i)%slots*ports, Count: count}
		if block.First+count > all.First+all.Count {
			continue
		}
		if !slices.ContainsFunc(taken, block.Overlaps) {
			return block.First, true
		}
	}
	return 0, false
}

// layout is where each pod's block lies.
type layout struct {
	job *v1.PaddleJob
	// first is the first port of all, 0 if all pods have the same.
	first int
}

func (l layout) of(role string, index int) int {
	if l.first == 0 {
		return firstPort
	}
	before := 0
	for _, r := range Roles(l.job) {
		if r.Name == role {
			break
		}
		before += int(r.replicas())
	}
	return l.first + (before+index)*ports
}

// gloo is where server 0 serves the rendezvous.
func (l layout) gloo() int { return l.of(RolePS, 0) + glooOffset }

func (l layout) endpoints(addresses Addresses, role string) string {
	all := make([]string, len(addresses[role]))
	for i, host := range addresses[role] {
		all[i] = endpoint(host, l.of(role, i))
	}
	return strings.Join(all, ",")
}

func endpoint(host string, port int) string { return net.JoinHostPort(host, strconv.Itoa(port)) }

// PodAnnotations is what a pod of a job has to be given by annotations because its template cannot know it. That is its address and, unless
// first is 0, its block of the ports that begin there; nil for a pod that is not the job's.
func PodAnnotations(job *v1.PaddleJob, first int, pod *corev1.Pod) map[string]string {
	role, index, ok := place(job, pod)
	if !ok {
		return nil
	}
	all := map[string]string{v1.AddressAnnotation: PaddleIP(pod)}
	if first != 0 {
		port := layout{job: job, first: first}.of(role, index)
		all[v1.PortAnnotation] = strconv.Itoa(port)
		// Both ends are in it; the launcher starts anywhere between and comes round.
		all[v1.PortRangeAnnotation] = fmt.Sprintf("%d:%d", port+1, port+glooOffset-1)
	}
	return all
}

// PaddleIP is the address by which Paddle can reach a pod: its IPv4 address where it has one, else what it has.
//
// Paddle splits every endpoint at its colons, and its launcher, its stores and its servers open IPv4 sockets only
// (distributed/launch/context/node.py, fleet/base/role_maker.py), so an IPv6 address serves only a pod alone.
func PaddleIP(pod *corev1.Pod) string {
	if !IPv6(pod.Status.PodIP) {
		return pod.Status.PodIP
	}
	for _, ip := range pod.Status.PodIPs {
		if ip.IP != "" && !IPv6(ip.IP) {
			return ip.IP
		}
	}
	return pod.Status.PodIP
}

// IPv6 reports whether an address is one.
func IPv6(address string) bool { return strings.Contains(address, ":") }
