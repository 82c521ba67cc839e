// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"volcano.sh/volcano/pkg/scheduler"
	"volcano.sh/volcano/pkg/scheduler/conf"
	"volcano.sh/volcano/pkg/scheduler/framework"
)

// knownActions are Volcano's, to name what may be meant; framework.GetAction knows which ones there are.
var knownActions = []string{"enqueue", "allocate", "backfill", "preempt", "reclaim", "shuffle"}

// configuration checks one volcano-scheduler.conf: its text, and the documents in it.
func (c *check) configuration(text []byte, documents []*yaml.Node) {
	whole := spot{line: 1}
	if len(documents) > 0 {
		whole.node = documents[0]
	}
	if len(documents) > 1 {
		c.errorAt(spot{line: documents[1].Line}, "here begins a second document; Volcano reads only the first")
	}
	_, tiers, _, _, err := scheduler.UnmarshalSchedulerConf(string(text))
	before := len(c.findings)

	entries := c.mapping(whole, yamlKeys(conf.SchedulerConfiguration{})...)
	actions := c.actions(entries)
	stack := c.tiers(entries, tiers)
	c.actionArguments(entries)
	c.stack(&stack)
	c.holds = append(c.holds, held(actions, len(stack.plugins), stack.tiers, stack.arguments))

	// Volcano keeps the configuration before, or takes its own default, and only logs this. What it says about types and
	// actions has been said already.
	told := slices.ContainsFunc(c.findings[before:], func(f Finding) bool { return !f.Warning })
	if err != nil && !told {
		line, what := yamlError(err)
		c.errorAt(spot{line: line}, "Volcano refuses the configuration: %s", strings.Join(strings.Fields(what), " "))
	}
}

// actions checks the line of actions, and gives their number.
func (c *check) actions(entries []entry) int {
	at, ok := lookup(entries, "actions")
	if !ok || empty(at.node) || at.node.Kind == yaml.ScalarNode && strings.TrimSpace(at.node.Value) == "" {
		c.errorAt(at, `there are no actions; Volcano's default is actions: "enqueue, allocate, backfill"`)
		return 0
	}
	if at.node.Kind != yaml.ScalarNode {
		c.errorAt(at, `actions are one text with commas: actions: "enqueue, allocate, backfill"`)
		return 0
	}
	var names []string
	unknown := false
	for name := range strings.SplitSeq(at.node.Value, ",") {
		name = strings.TrimSpace(name)
		_, known := framework.GetAction(name)
		switch {
		case name == "":
			c.errorAt(at, "a comma too many: Volcano refuses an empty action")
		case !known:
			unknown = true
			c.unknown(at, "there is no action "+name, name, knownActions)
		case slices.Contains(names, name):
			c.warnAt(at, "%s is named twice and runs twice in each cycle", name)
		}
		names = append(names, name)
	}
	allocate, preempt := slices.Index(names, "allocate"), slices.Index(names, "preempt")
	switch {
	case allocate < 0 && unknown: // it may be the one that is written wrong
	case allocate < 0:
		c.errorAt(at, "without allocate no job is placed")
	case preempt >= 0 && preempt < allocate:
		c.warnAt(at, "preempt stands before allocate: Volcano then reserves nodes for waiting gangs in each cycle and may bind none of them; name it after allocate")
	}
	return len(names)
}

// actionArguments checks the shape of the actions' own arguments.
func (c *check) actionArguments(entries []entry) {
	at, _ := lookup(entries, "configurations")
	for _, one := range c.list(at) {
		fields := c.mapping(one, yamlKeys(conf.Configuration{})...)
		if _, ok := lookup(fields, "name"); !ok {
			c.errorAt(one, "it has no name; write the action's name")
		}
		if arguments, ok := lookup(fields, "arguments"); ok {
			c.mapping(arguments)
		}
	}
}

// yamlKeys are the keys that Volcano knows in a part of its configuration.
func yamlKeys(part any) []string {
	var keys []string
	for _, field := range reflect.VisibleFields(reflect.TypeOf(part)) {
		keys = append(keys, field.Tag.Get("yaml"))
	}
	return keys
}
