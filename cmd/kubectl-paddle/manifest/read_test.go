// SPDX-License-Identifier: Apache-2.0

package manifest_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/manifest"
)

const head = "apiVersion: batch.paddlepaddle.org/v1\nkind: PaddleJob\nmetadata: {name: a}\n"

func TestReadDocuments(t *testing.T) {
	read, err := manifest.Read(strings.NewReader("# a comment\n---\n"+head+"---\n"+head+"spec: {worker: {replicas: 3}}\n---\n# nothing\n"), "jobs.yaml")
	require.NoError(t, err)
	require.Len(t, read, 2)
	require.EqualValues(t, 3, read[1].Job.Spec.Worker.Replicas)
	require.Equal(t, "jobs.yaml, document 2", read[1].Where)
}

func TestReadJSON(t *testing.T) {
	read, err := manifest.Read(strings.NewReader(`{"apiVersion":"batch.paddlepaddle.org/v1","kind":"PaddleJob","metadata":{"name":"a"}}`), "-")
	require.NoError(t, err)
	require.Equal(t, "a", read[0].Job.Name)
}

func TestErrors(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"misspelt":            {head + "spec: {workers: {replicas: 3}}", `unknown field "spec.workers": did you mean spec.worker?`},
		"misspelt in a list":  {head + "spec: {worker: {replicas: 1, template: {spec: {containers: [{name: a, imag: b}]}}}}", `did you mean spec.worker.template.spec.containers[0].image?`},
		"in the wrong place":  {head + "spec: {suspend: true}", `unknown field "spec.suspend": did you mean spec.runPolicy.suspend?`},
		"wrong letters":       {head + "spec: {schedulingPolicy: {minavailable: 3}}", "did you mean spec.schedulingPolicy.minAvailable?"},
		"nothing near":        {head + "spec: {runPolicy: {zzzzzzzzz: 3}}", "known there are activeDeadlineSeconds, backoffLimit, permanentExitCodes"},
		"twice":               {head + "spec: {withGloo: 1, withGloo: 2}", "already set"},
		"another kind":        {"apiVersion: v1\nkind: Pod\n", "it is a Pod of v1, and only PaddleJobs"},
		"a kind of our group": {"apiVersion: batch.paddlepaddle.org/v1\nkind: PaddleJobList\n", "it is a PaddleJobList"},
		"no kind":             {"spec: {}\n", "a PaddleJob begins with apiVersion: batch.paddlepaddle.org/v1"},
		"wrong type":          {head + "spec: {worker: {replicas: many}}", "replicas"},
		"empty":               {"# nothing\n", "jobs.yaml holds no PaddleJob"},
		"all of it":           {head + "spec: {workers: {}}\n---\nkind: Pod\napiVersion: v1\n", "jobs.yaml, document 2: it is a Pod"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := manifest.Read(strings.NewReader(test.text), "jobs.yaml")
			require.ErrorContains(t, err, test.want)
		})
	}
}
