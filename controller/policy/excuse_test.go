// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/controller/keys"
	"github.com/paddle-volcano/paddle-volcano/controller/render"
	"github.com/paddle-volcano/paddle-volcano/controller/view"
)

// Programs that are told to end exit with a code of failure, which is none of the job's.
func TestElasticWorkersThatAreDeletedHaveNotFailed(t *testing.T) {
	t.Parallel()
	states := func(v *view.View) {
		with(render.RoleWorker, view.Running, view.Leaving, view.Running, view.Starting)(v)
		delete(v.Pods[1].Annotations, keys.OutOfSync)
	}
	told := func(v *view.View) {
		v.Pods[1].Annotations[keys.OutOfSync] = "true"
	}
	annotated := func(v *view.View) (lines []string) {
		for _, line := range done(Decide(v, config)) {
			if strings.HasPrefix(line, "annotate ") {
				lines = append(lines, line)
			}
		}
		return lines
	}
	require.Equal(t, []string{"annotate job-worker-1: " + keys.OutOfSync}, annotated(createdFrom(t, config, elastic, states)))
	require.Empty(t, annotated(createdFrom(t, config, elastic, states, told)), "once")
	require.Empty(t, annotated(createdFrom(t, config, asSubmitted, states)), "where the others cannot go on it is a failure")
}
