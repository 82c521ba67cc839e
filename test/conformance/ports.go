// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/paddle-volcano/paddle-volcano/test/conformance/rules"
)

// uses reports whether a pod's processes listen on a port, or may choose it: the port of its own endpoint, and those in which
// the launcher looks for free ones.
func (p *Pod) uses(port int) bool {
	if p.Env["PADDLE_PORT"] == strconv.Itoa(port) {
		return true
	}
	low, high, ok := rules.PortRange(p.Env)
	return ok && low <= port && port <= high
}

// checkPorts finds pods that share an address and listen on the same port, or may choose the same one.
func (g *Gang) checkPorts(problems *problems) {
	for i := range g.Pods {
		for j := range g.Pods[:i] {
			if err := Collide(&g.Pods[j], &g.Pods[i]); err != nil && g.Mode != Elastic {
				problems.add(&g.Pods[i], "%w", err)
			}
		}
	}
}

// Collide returns an error if two pods are at the same address and cannot share it.
func Collide(a, b *Pod) error {
	if a.IP == "" || a.IP != b.IP {
		return nil
	}
	for _, pair := range [][2]*Pod{{a, b}, {b, a}} {
		own, err := strconv.Atoi(pair[0].Env["PADDLE_PORT"])
		if err != nil {
			return fmt.Errorf("%s and %s share the address %s, and the first has no separate port", pair[0].Name, pair[1].Name, a.IP)
		}
		if pair[1].uses(own) {
			return fmt.Errorf("%s and %s share the address %s, and both use port %d", a.Name, b.Name, a.IP, own)
		}
		if gloo, err := strconv.Atoi(pair[0].Env["PADDLE_GLOO_PORT"]); err == nil && pair[0].Role == rules.Server && pair[0].Index == 0 && pair[1].uses(gloo) {
			return fmt.Errorf("%s and %s share the address %s, and gloo of the one is at port %d, which the other uses", pair[0].Name, pair[1].Name, a.IP, gloo)
		}
	}
	low, high, ok := rules.PortRange(a.Env)
	from, to, ok2 := rules.PortRange(b.Env)
	if !ok || !ok2 || low <= to && from <= high {
		return fmt.Errorf("%s and %s share the address %s, and the launchers of both choose from the same ports", a.Name, b.Name, a.IP)
	}
	return nil
}

// listens adds a problem unless the endpoint resolves to the pod and to no other: by its host, or where pods share that by
// the port that each takes for its own.
func (g *Gang) listens(host string, port int, to, seenBy *Pod, what string, problems *problems) {
	found := g.Resolve(host)
	if len(found) > 1 {
		found = slices.DeleteFunc(slices.Clone(found), func(name string) bool {
			at := slices.IndexFunc(g.Pods, func(p Pod) bool { return p.Name == name })
			return at < 0 || g.Pods[at].Env["PADDLE_PORT"] != strconv.Itoa(port)
		})
	}
	if len(found) != 1 || found[0] != to.Name {
		problems.add(seenBy, "%s is at host %s, which must lead to pod %s alone and leads to %v", what, host, to.Name, found)
	}
}
