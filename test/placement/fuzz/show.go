// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"fmt"
	"strings"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// show is a case for people.
func show(data []byte) string {
	c := Decode(data)
	var text strings.Builder
	fmt.Fprintf(&text, "resources %v, accelerators %v, tiers %v, options %+v\n", c.Spec.Resources, c.Spec.Accelerators, c.Spec.Tiers, c.Options)
	for _, node := range c.Spec.Nodes {
		fmt.Fprintf(&text, "node %s in %v: free %v islands %v\n", node.Name, node.Domains, node.Free, node.Islands)
	}
	t, err := placement.NewTopology(c.Spec)
	if err != nil {
		return text.String() + err.Error()
	}
	d := c.Demand(t)
	roles := d.Roles
	d.Roles = nil
	fmt.Fprintf(&text, "%+v\n", *d)
	for i := range roles {
		fmt.Fprintf(&text, "%+v\n", roles[i])
	}
	d.Roles = roles
	plan, err := placement.Solve(t, d, c.Options)
	fmt.Fprintf(&text, "plan %+v, error %v\n", plan, err)
	return text.String()
}
