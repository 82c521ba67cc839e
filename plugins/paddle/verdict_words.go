// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"volcano.sh/volcano/pkg/scheduler/api"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
)

// amountsOf are amounts by resource.
func amountsOf(r *api.Resource) map[corev1.ResourceName]float64 {
	amounts := map[corev1.ResourceName]float64{}
	for _, name := range r.ResourceNames() {
		amounts[name] = r.Get(name)
	}
	return amounts
}

// gangWords are the pods without which a gang does not start: "2 servers and 8 workers"; "10 pods" where roles are not
// known yet.
func gangWords(job *api.JobInfo, g gang) string {
	var names []string
	minimum := map[string]int32{}
	for _, group := range g {
		name := roleNames[group.role]
		if minimum[name] == 0 && group.min > 0 {
			names = append(names, name)
		}
		minimum[name] += group.min
	}
	var parts []string
	for _, name := range names {
		t := tally{name: name, min: minimum[name]}
		parts = append(parts, fmt.Sprintf("%d %s", t.min, t.plural()))
	}
	if len(parts) == 0 {
		t := tally{name: "pod", min: max(1, job.MinAvailable)}
		parts = append(parts, fmt.Sprintf("%d %s", t.min, t.plural()))
	}
	return report.List(parts)
}
