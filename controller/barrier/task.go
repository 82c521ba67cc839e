// SPDX-License-Identifier: Apache-2.0

package barrier

import (
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Task is what one pod waits for.
type Task struct {
	// Own is the host by which the job's other pods know this one: a name or an IP.
	Own string
	// IPs are the pod's own.
	IPs []netip.Addr
	// Peers are the hosts of each role, the pod itself included.
	Peers []Peers
	// Timeout bounds the waiting.
	Timeout time.Duration
}

// Peers are the hosts of one role in the order of their indices, and how many of them must be found.
type Peers struct {
	Hosts []string
	Least int
}

// Task reads the lists from the environment. A list in which there is no place for the pod is one of other pods.
func (o *Options) Task(env func(string) (string, bool)) (*Task, error) {
	task := &Task{Timeout: o.Timeout}
	text, _ := env(IPsVariable)
	for part := range strings.SplitSeq(text, ",") {
		ip, err := netip.ParseAddr(strings.TrimSpace(part))
		if err != nil {
			return nil, fail(ExitWrongCall, "%s is %q: it must hold the pod's own IPs", IPsVariable, text)
		}
		task.IPs = append(task.IPs, ip.Unmap())
	}
	place, _ := env(IndexVariable)
	index, err := strconv.Atoi(place)
	if err != nil || index < 0 {
		return nil, fail(ExitWrongCall, "%s is %q: it must hold the pod's index", IndexVariable, place)
	}
	for _, list := range o.Peers {
		endpoints, _ := env(list.Variable)
		hosts, err := hostsOf(list.Variable, endpoints)
		if err != nil {
			return nil, err
		}
		if list.Variable == o.Own {
			if index >= len(hosts) {
				return nil, fail(ExitStale, "%s has %d entries, and none for this pod, which is number %d: it lists the pods of another size of the job",
					list.Variable, len(hosts), index)
			}
			task.Own = hosts[index]
		}
		task.Peers = append(task.Peers, Peers{Hosts: hosts, Least: min(list.Least, len(hosts))})
	}
	return task, nil
}

// hostsOf takes the ports off.
func hostsOf(variable, endpoints string) ([]string, error) {
	var hosts []string
	for i, endpoint := range strings.Split(endpoints, ",") {
		host, _, err := net.SplitHostPort(endpoint)
		if err != nil || host == "" {
			return nil, fail(ExitWrongCall, "entry %d of %s is %q, not host:port", i, variable, endpoint)
		}
		hosts = append(hosts, host)
	}
	return hosts, nil
}

// mine reports whether one of the addresses is the pod's own.
func (t *Task) mine(addresses ...netip.Addr) bool {
	return slices.ContainsFunc(addresses, func(a netip.Addr) bool { return slices.Contains(t.IPs, a.Unmap()) })
}

// isIP tells an IP from a name.
func isIP(host string) bool {
	_, err := netip.ParseAddr(host)
	return err == nil
}
