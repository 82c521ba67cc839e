// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// stage is what these tests read of kwok's Stage.
type stage struct {
	Kind     string
	Metadata struct{ Name string }
	Spec     struct {
		ResourceRef struct{ Kind string }
		Selector    struct {
			MatchExpressions []struct {
				JQ struct {
					Key, Operator string
				}
			}
		}
		Next struct {
			Delete  bool
			Patches []struct{ Subresource, Root, Template string }
		}
	}
}

func stages(t *testing.T, workerRunFor time.Duration) map[string]stage {
	t.Helper()
	text, err := KwokConfig(workerRunFor)
	require.NoError(t, err)
	out := map[string]stage{}
	reader := utilyaml.NewYAMLReader(bufio.NewReader(strings.NewReader(text)))
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return out
		}
		require.NoError(t, err)
		var s stage
		require.NoError(t, yaml.Unmarshal(document, &s), string(document))
		if s.Kind == "KwokConfiguration" {
			continue
		}
		require.Equal(t, "Stage", s.Kind)
		require.NotContains(t, out, s.Metadata.Name)
		out[s.Metadata.Name] = s
	}
}

func TestStages(t *testing.T) {
	all := stages(t, 0)
	want := map[string]string{
		"node-ready": "Node", "pod-delete": "Pod", "pod-create": "Pod", "pod-initialize": "Pod", "pod-refuse": "Pod", "pod-start": "Pod",
		"pod-succeed": "Pod", "pod-fail": "Pod", "pod-restart-done": "Pod", "pod-restart-failed": "Pod",
	}
	require.Len(t, all, len(want))
	for name, kind := range want {
		s := all[name]
		require.Equal(t, kind, s.Spec.ResourceRef.Kind, name)
		require.Equal(t, name == "pod-delete", s.Spec.Next.Delete, name)
		require.NotEmpty(t, s.Spec.Selector.MatchExpressions, name)
		for _, patch := range s.Spec.Next.Patches {
			require.Equal(t, "status", patch.Subresource, name)
			require.NotContains(t, patch.Template, "<<", name)
			if kind == "Pod" {
				// Or a copy of the pod that has been overtaken would put the clock back.
				require.Contains(t, patch.Template, "resourceVersion: {{ .metadata.resourceVersion | Quote }}", name)
			}
		}
	}
}

// Two stages that match one pod would be drawn lots for, so each running pod has one fate.
func TestFatesExcludeEachOther(t *testing.T) {
	all := stages(t, 0)
	program := ""
	for _, end := range endings {
		expressions := all["pod-"+end.Fate].Spec.Selector.MatchExpressions
		require.Len(t, expressions, 1)
		require.Equal(t, "Exists", expressions[0].JQ.Operator)
		found, ok := strings.CutSuffix(expressions[0].JQ.Key, fmt.Sprintf("(running and fate == %q) // empty", end.Fate))
		require.True(t, ok, end.Fate)
		if program == "" {
			program = found
		}
		require.Equal(t, program, found, "all decide by the same program")
	}
}

// kwok copies the pod for each expression.
func TestASelectorIsOneExpression(t *testing.T) {
	for name, stage := range stages(t, 0) {
		require.Len(t, stage.Spec.Selector.MatchExpressions, 1, name)
		key := stage.Spec.Selector.MatchExpressions[0].JQ.Key
		require.True(t, stage.Spec.ResourceRef.Kind == "Node" || strings.HasSuffix(key, ") // empty"), "false exists as well: %s", name)
	}
}

func TestWorkerRunForIsInTheStages(t *testing.T) {
	for run, want := range map[time.Duration]string{
		0:                       `(if worker then "forever" else "forever" end)`,
		5 * time.Second:         `(if worker then "5s" else "forever" end)`,
		1500 * time.Microsecond: `(if worker then "2ms" else "forever" end)`,
	} {
		for _, end := range endings {
			key := stages(t, run)["pod-"+end.Fate].Spec.Selector.MatchExpressions
			require.Contains(t, key[len(key)-1].JQ.Key, want)
		}
	}
}
