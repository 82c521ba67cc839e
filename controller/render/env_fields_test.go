// SPDX-License-Identifier: Apache-2.0

package render

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/utils/ptr"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
)

// everyShape is a job of each mode, in each network, with all that adds variables.
func everyShape() (all []*v1.PaddleJob) {
	for _, network := range []v1.Intranet{v1.PodIP, v1.Service, v1.Host} {
		all = append(all,
			paddleJob(2, 2, intranet(network)), paddleJob(2, 2, intranet(network), withGloo(0)), paddleJob(2, 2, intranet(network), withGloo(2)),
			paddleJob(0, 2, intranet(network)), paddleJob(0, 1, intranet(network)), paddleJob(1, 2, intranet(network), heter(2)),
			paddleJob(0, 2, intranet(network), elastic(1, 4), func(job *v1.PaddleJob) {
				job.Spec.ElasticPolicy = &v1.ElasticPolicy{Etcd: "kv:1", TimeoutSeconds: ptr.To[int32](9), MaxRestarts: ptr.To[int32](3)}
			}))
	}
	return all
}

// variablesOf are the names of all variables that the pods of a job get.
func variablesOf(t *testing.T, job *v1.PaddleJob) (names []string) {
	t.Helper()
	got, _ := mustJob(t, job)
	for i := range got.Spec.Tasks {
		own, _ := written(got.Spec.Tasks[i].Template.Spec.Containers[0].Env)
		names = append(names, own...)
	}
	for name := range ConfigMap(job, ServiceAddresses(job), "", Config{}).Data {
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// The README's rows of the environment have every variable that a pod gets.
func TestEveryVariableHasARow(t *testing.T) {
	text, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	_, section, found := strings.Cut(string(text), "### paddle-operator: environment\n")
	require.True(t, found, "the README has no such section")
	section, _, _ = strings.Cut(section, "\n#")
	listed := map[string]bool{}
	for line := range strings.SplitSeq(section, "\n") {
		if cells := strings.Split(line, "|"); len(cells) > 1 {
			for _, name := range regexp.MustCompile("`([A-Z_]+)`").FindAllStringSubmatch(cells[1], -1) {
				listed[name[1]] = true
			}
		}
	}
	given := map[string]bool{}
	for _, job := range everyShape() {
		for _, name := range variablesOf(t, job) {
			given[name] = true
			require.True(t, listed[name], "%s has no row", name)
		}
	}
	for name := range listed {
		require.True(t, given[name] || slices.Contains(operatorsOwn, name), "%s has a row, and no pod gets it", name)
	}
}

// operatorsOwn are paddle-operator's variables of an elastic launcher that is no more: with any of them the launcher of
// today runs in its legacy mode.
var operatorsOwn = []string{"PADDLE_ELASTIC_JOB_ID", "PADDLE_ELASTIC_NP"}

func TestNoPodGetsWhatTheLauncherTakesForItsOldForm(t *testing.T) {
	for _, job := range everyShape() {
		for _, name := range operatorsOwn {
			require.NotContains(t, variablesOf(t, job), name)
		}
		// Endpoints say the same, and gloo without servers is served by nobody.
		if !Elastic(job) {
			require.NotContains(t, variablesOf(t, job), "PADDLE_MASTER")
			require.NotContains(t, variablesOf(t, job), "PADDLE_NNODES")
		}
		if job.Spec.PS == nil {
			require.NotContains(t, variablesOf(t, job), "PADDLE_WITH_GLOO")
		}
	}
}
