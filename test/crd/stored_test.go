// SPDX-License-Identifier: Apache-2.0

package crd_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	paddlev1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	"github.com/paddle-volcano/paddle-volcano/controller/validation"
)

// neverStored are the wrong specs that earlier CRDs refused too, or whose fields those did not have.
var neverStored = []string{
	"colocation", "parallel group of none", "parallel group of too many", "topology's mode", "topology below 0", "topology of two tiers", "topology of no tier",
	"deadline of no time", "negative time to live", "negative backoff limit", "unknown restart scope", "pods alone, no server",
	"permanent success", "no such exit code", "permanent exit twice", "waiting for no time", "fewer restarts than none",

	"failure policy twice", "failure policy, no rule", "failure action", "failure of no code", "failure operator", "failure with code 0",
	"failure with no such code", "failure with a code twice", "minimum without maximum", "maximum without minimum", "bounds by both names",
	"managed by a name without a domain", "managed by a name too long", "degree of 0", "degree of too many", "parallelism with servers",
	"expert parallel groups that do not divide", "expert and data parallelism", "parallelism of two kinds",
	"order of ranks", "degrees twice", "degrees of no ConfigMap", "degrees of no key",
}

// foundLater are the wrong specs whose fault the controller finds when it looks for what they name.
var foundLater = []string{"queue in capitals", "queue too long", "priority class"}

// The CRD judges a job when it is created or changed. One that was stored before the CRD had a rule is not run either.
func TestStoredJobsThatAreWrongAreNotRun(t *testing.T) {
	t.Parallel()
	wrongSpecs := readWrong(t)
	exempt := map[string]bool{}
	for _, name := range append(foundLater, neverStored...) {
		require.Contains(t, wrongSpecs, name)
		exempt[name] = true
	}
	for name, tc := range wrongSpecs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := wrong(t, tc.Patch).MarshalJSON()
			require.NoError(t, err)
			stored := &paddlev1.PaddleJob{}
			if json.Unmarshal(text, stored) != nil {
				return // the controller cannot read it
			}
			errs := validation.Validate(stored, builder.PodGroupOverrides{}, builder.Config{ElasticEtcd: "kv:2379"})
			require.Equal(t, exempt[name], len(errs) == 0, "%v", errs)
		})
	}
}

// The controller can write the status of a stored job with any invalid spec, and paddle-operator's finalizer can be removed from one
// that it has run.
func TestStatusOfStoredJobsCanBeWritten(t *testing.T) {
	t.Parallel()
	for name, tc := range readWrong(t) {
		if name == "container without a name" {
			continue // every CRD has required it, and nothing of a list without its keys may stay as it is
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stored := wrong(t, tc.Patch)
			written := stored.DeepCopy()
			require.NoError(t, unstructured.SetNestedField(written.Object, "Pending", "status", "phase"))
			require.Empty(t, validator(t).Update(t.Context(), written, stored))
			released := written.DeepCopy()
			released.SetFinalizers([]string{"a/b"})
			require.Empty(t, validator(t).Update(t.Context(), released, written))
		})
	}
}
