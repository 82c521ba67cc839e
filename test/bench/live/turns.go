// SPDX-License-Identifier: Apache-2.0

package live

import (
	"slices"

	"github.com/paddle-volcano/paddle-volcano/test/bench/live/load"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

// Those who bind pods.
const (
	// Stock is Volcano as published, Paddle is Volcano with the plugin, KubeScheduler knows no gangs.
	Stock         = "stock"
	Paddle        = "paddle"
	KubeScheduler = "kube-scheduler"
	// LimitA makes only the bindings of Paddle's last turn, LimitB all that it wrote until the last binding.
	LimitA = "limit-a"
	LimitB = "limit-b"
)

// Schedulers are all of them.
func Schedulers() []string { return []string{Stock, Paddle, LimitA, LimitB, KubeScheduler} }

// binder is how one of them is run.
type binder struct {
	// component runs it; user is who it is to the API server; pods is the schedulerName that it looks for.
	component, user, pods string
}

const volcanoUser = "system:serviceaccount:volcano-system:volcano-scheduler"

// binders by name. The limits are to the API server who Volcano's scheduler is, so that it has the same to look up.
var binders = map[string]binder{
	Stock:         {sandbox.VolcanoScheduler, volcanoUser, "volcano"},
	Paddle:        {sandbox.Scheduler, volcanoUser, "volcano"},
	KubeScheduler: {sandbox.KubeScheduler, "system:kube-scheduler", "default-scheduler"},
	LimitA:        {"", volcanoUser, "volcano"},
	LimitB:        {"", volcanoUser, "volcano"},
}

// order is whose turn it is in a round of a form. Each round begins with another scheduler; limits follow the one that they
// repeat. Limits and the scheduler without gangs are for pods that are there: they make no sense for jobs.
func order(schedulers []string, form string, round int) []string {
	var groups [][]string
	for _, group := range [][]string{{Stock}, {Paddle, LimitA, LimitB}, {KubeScheduler}} {
		group = slices.DeleteFunc(group, func(name string) bool {
			return !slices.Contains(schedulers, name) || form != load.PodGroups && name != Stock && name != Paddle
		})
		if len(group) > 0 {
			groups = append(groups, group)
		}
	}
	if len(groups) == 0 {
		return nil
	}
	first := round % len(groups)
	return slices.Concat(append(slices.Clone(groups[first:]), groups[:first]...)...)
}
