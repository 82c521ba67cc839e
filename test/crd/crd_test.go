// SPDX-License-Identifier: Apache-2.0

package crd_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	paddlev1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/deploy"
	"github.com/paddle-volcano/paddle-volcano/test/cases"
	"github.com/paddle-volcano/paddle-volcano/test/crd"
	"github.com/paddle-volcano/paddle-volcano/test/docs"
	"github.com/paddle-volcano/paddle-volcano/test/manifests"
)

var shared = sync.OnceValues(func() (*crd.Validator, error) {
	text, err := fs.ReadFile(deploy.Files, "v1/crd.yaml")
	if err != nil {
		return nil, fmt.Errorf("read the CRD: %w", err)
	}
	return crd.NewValidator(context.Background(), text)
})

func validator(t *testing.T) *crd.Validator {
	t.Helper()
	v, err := shared()
	require.NoError(t, err)
	return v
}

// The rules use nothing that the oldest Kubernetes that the project supports does not know.
func TestRulesCompileOnTheOldestKubernetes(t *testing.T) {
	t.Parallel()
	n, err := validator(t).Compile(1, 25)
	require.NoError(t, err)
	require.Greater(t, n, 20)
}

func TestExamplesAreAccepted(t *testing.T) {
	t.Parallel()
	files, err := fs.Glob(deploy.Files, "examples/*.yaml")
	require.NoError(t, err)
	found := 0
	for _, file := range files {
		objects, err := manifests.Read(deploy.Files, file)
		require.NoError(t, err)
		found += requireAccepted(t, file, objects)
	}
	require.GreaterOrEqual(t, found, 15)
}

func TestManifestsOfDocumentsAreAccepted(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	found := 0
	require.NoError(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (strings.HasPrefix(entry.Name(), "_") || entry.Name() == ".git") {
			return filepath.SkipDir
		}
		if filepath.Ext(path) != ".md" {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, block := range docs.Parse(path, string(text)).Blocks {
			objects, err := manifests.Parse([]byte(strings.Join(block.Lines, "\n")))
			if err != nil {
				continue // no manifest
			}
			found += requireAccepted(t, path, objects)
		}
		return nil
	}))
	require.GreaterOrEqual(t, found, 3)
}

// requireAccepted checks the PaddleJobs among the objects and returns how many there are.
func requireAccepted(t *testing.T, where string, objects []*unstructured.Unstructured) (found int) {
	t.Helper()
	for _, object := range objects {
		if object.GetKind() != paddlev1.Kind || object.GetAPIVersion() != paddlev1.SchemeGroupVersion.String() {
			continue
		}
		found++
		require.Empty(t, validator(t).Create(t.Context(), object), "%s: %s", where, object.GetName())
	}
	return found
}

// trains is a job that is accepted.
const trains = `
apiVersion: batch.paddlepaddle.org/v1
kind: PaddleJob
metadata: {name: wide, namespace: train}
spec:
  ps: {replicas: 2, template: {spec: {containers: [{name: paddle, image: paddle}]}}}
  worker: {replicas: 2, template: {spec: {containers: [{name: paddle, image: paddle}]}}}
`

// job returns the job that trains with a patch: null takes a field out.
func job(t *testing.T, patch string) *unstructured.Unstructured {
	t.Helper()
	var object, change map[string]any
	require.NoError(t, yaml.Unmarshal([]byte(trains), &object))
	require.NoError(t, yaml.Unmarshal([]byte(patch), &change))
	merge(object, change)
	data, err := yaml.Marshal(object)
	require.NoError(t, err)
	objects, err := manifests.Parse(data)
	require.NoError(t, err)
	require.Len(t, objects, 1)
	return objects[0]
}

func merge(object, change map[string]any) {
	for key, value := range change {
		inner, isMap := value.(map[string]any)
		outer, wasMap := object[key].(map[string]any)
		switch {
		case value == nil:
			delete(object, key)
		case isMap && wasMap:
			merge(outer, inner)
		default:
			object[key] = value
		}
	}
}

func TestRightSpecsAreAccepted(t *testing.T) {
	t.Parallel()
	for name, patch := range cases.Read[map[string]json.RawMessage](t, "testdata/right.yaml") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Empty(t, validator(t).Create(t.Context(), job(t, string(patch))))
		})
	}
}

// wrongSpec is a change of a job that is accepted, and what the refusal says.
type wrongSpec struct {
	Patch         json.RawMessage
	Field, Remedy string
}

func readWrong(t *testing.T) map[string]wrongSpec {
	t.Helper()
	return cases.Read[map[string]wrongSpec](t, "testdata/wrong.yaml")
}

// wrong returns the job that trains with a patch in which LONG is a name of 254 letters.
func wrong(t *testing.T, patch json.RawMessage) *unstructured.Unstructured {
	t.Helper()
	return job(t, strings.ReplaceAll(string(patch), "LONG", strings.Repeat("a", 254)))
}

func TestWrongSpecsAreRefused(t *testing.T) {
	t.Parallel()
	wrongSpecs := readWrong(t)
	for name, tc := range wrongSpecs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			errs := validator(t).Create(t.Context(), wrong(t, tc.Patch))
			require.NotEmpty(t, errs)
			text := errs.ToAggregate().Error()
			require.Contains(t, text, tc.Field)
			require.Contains(t, text, tc.Remedy)
		})
	}
	require.GreaterOrEqual(t, len(wrongSpecs), 60)
}

func TestManagedByIsImmutable(t *testing.T) {
	t.Parallel()
	unset, controller, multikueue := ``, `spec: {managedBy: batch.paddlepaddle.org/paddlejob-controller}`, `spec: {managedBy: kueue.x-k8s.io/multikueue}`
	for _, change := range [][2]string{{unset, controller}, {controller, unset}, {controller, multikueue}, {multikueue, controller}} {
		errs := validator(t).Update(t.Context(), job(t, change[1]), job(t, change[0]))
		require.Len(t, errs, 1, "%v", change)
		require.ErrorContains(t, errs[0], "spec.managedBy is immutable: delete the PaddleJob and create it again")
	}
	for _, same := range []string{unset, controller, multikueue} {
		require.Empty(t, validator(t).Update(t.Context(), job(t, same), job(t, same)))
	}
}

// A definition that the API server would refuse is an error.
func TestValidatorRefusesDefinitions(t *testing.T) {
	t.Parallel()
	text, err := fs.ReadFile(deploy.Files, "v1/crd.yaml")
	require.NoError(t, err)
	_, err = crd.NewValidator(t.Context(), []byte(strings.Replace(string(text), "has(self.ps)", "has(self.pss)", 1)))
	require.ErrorContains(t, err, "undefined field 'pss'")
}
