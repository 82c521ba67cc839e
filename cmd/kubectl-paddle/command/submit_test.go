// SPDX-License-Identifier: Apache-2.0

package command

import (
	"testing"

	"github.com/stretchr/testify/require"
)

const head = "apiVersion: batch.paddlepaddle.org/v1\nkind: PaddleJob\nmetadata: {name: a}\n"

func TestReadDocuments(t *testing.T) {
	t.Parallel()
	read, err := readDocuments([]byte("# a comment\n---\n"+head+"---\n"+head+"spec: {worker: {replicas: 3}}\n---\n# nothing\n"), "jobs.yaml")
	require.NoError(t, err)
	require.Len(t, read, 2)
	require.EqualValues(t, 3, read[1].job.Spec.Worker.Replicas)
	require.Equal(t, "jobs.yaml, document 2", read[1].where)
	read, err = readDocuments([]byte(`{"apiVersion":"batch.paddlepaddle.org/v1","kind":"PaddleJob","metadata":{"name":"a"}}`), "-")
	require.NoError(t, err)
	require.Equal(t, "a", read[0].job.Name)
}

func TestReadFile_Missing(t *testing.T) {
	t.Parallel()
	_, err := (&session{}).readFile("missing.yaml")
	require.EqualError(t, err, `the path "missing.yaml" does not exist`)
}

func TestDocumentsThatAreNoJobs(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ text, want string }{
		"misspelt":            {head + "spec: {workers: {replicas: 3}}", `jobs.yaml: strict decoding error: unknown field "spec.workers"`},
		"twice":               {head + "spec: {withGloo: 1, withGloo: 2}", "already set"},
		"another kind":        {"apiVersion: v1\nkind: Pod\n", "it is a Pod of v1, and only PaddleJobs"},
		"a kind of our group": {"apiVersion: batch.paddlepaddle.org/v1\nkind: PaddleJobList\n", "it is a PaddleJobList"},
		"no kind":             {"spec: {}\n", "a PaddleJob begins with apiVersion: batch.paddlepaddle.org/v1"},
		"wrong type":          {head + "spec: {worker: {replicas: many}}", "replicas"},
		"empty":               {"# nothing\n", "jobs.yaml holds no PaddleJob"},
		"all of it":           {head + "spec: {workers: {}}\n---\nkind: Pod\napiVersion: apps/v9\n", "jobs.yaml, document 2: it is a Pod"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := readDocuments([]byte(test.text), "jobs.yaml")
			require.ErrorContains(t, err, test.want)
		})
	}
}
