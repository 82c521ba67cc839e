// SPDX-License-Identifier: Apache-2.0

package boundaries

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	batchv1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	kubeflowv1 "github.com/paddle-volcano/paddle-volcano/controller/apis/kubeflow/v1"
)

// What the README of the controller says of every field and behaviour of those before us has a test that shows it, and
// no field of ours is missing there.
func TestEveryFieldAndBehaviourHasARowAndATest(t *testing.T) {
	text, err := os.ReadFile("../../controller/README.md")
	require.NoError(t, err)
	tree, err := Load(os.DirFS("../.."))
	require.NoError(t, err)
	broken := brokenRows(string(text), testsIn(tree), wordsIn(tree), map[string]fields{
		"paddle-operator": fieldsOf(reflect.TypeFor[batchv1.PaddleJob]()),
		"Kubeflow":        fieldsOf(reflect.TypeFor[kubeflowv1.PaddleJob]()),
	})
	require.Empty(t, broken, "%d times:\n%s", len(broken), strings.Join(broken, "\n"))
}

// soundTables have no fault for the two fields of soundFields.
const soundTables = `
# Others
| field | here | why |
|---|---|---|
| ` + "`spec.other`" + ` | | no table of ours |

| field | Old | here | test |
|---|---|---|---|
| ` + "`spec.{a,b}.size`, `metadata.name`" + ` | any | ` + "`a\\|b`" + ` | ` + "`some/where TestA TestB`, `else/where FuzzC`" + ` |
| ` + "`spec.a.pod`, `spec.a.pod.spec.containers`" + `: all | any | any | ` + "`some/where TestB`" + ` |

| behaviour | Old | here | test |
|---|---|---|---|
| end | early, ` + "`InTime`" + ` | ` + "`B`, `TooLate`" + ` | ` + "`some/where TestA`" + ` |
`

var (
	soundFields = map[string]fields{"Old": {"spec.a": false, "spec.a.size": true, "spec.b": false, "spec.b.size": true, "spec.a.pod": true}}
	soundWords  = map[string]bool{"TooLate": true}
	soundTests  = map[string]map[string]bool{"some/where": {"TestA": true, "TestB": true}, "else/where": {"FuzzC": true}}
)

func TestFieldTablesCanBeBroken(t *testing.T) {
	require.Empty(t, brokenRows(soundTables, soundTests, soundWords, soundFields))
	for name, test := range map[string]struct{ old, text, want string }{
		"no such test":        {"FuzzC`", "TestC`", "line 9: else/where has no test TestC"},
		"no such package":     {"else/where", "no/where", "line 9: there is no package no/where with tests"},
		"nothing shows it":    {"TooLate` | `some/where TestA`", "TooLate` | ", "line 14: nothing shows it: name a package and its tests"},
		"words for a test":    {"TooLate` | `some/where TestA`", "TooLate` | see `some/where TestA`", "line 14: \"see `some/where TestA`\" is not"},
		"a package alone":     {"TooLate` | `some/where TestA`", "TooLate` | `some/where`", "line 14: \"`some/where`\" is not"},
		"a test alone":        {"TooLate` | `some/where TestA`", "TooLate` | `TestA`", "line 14: \"`TestA`\" is not"},
		"no column of tests":  {"TooLate` | `some/where TestA` |", "TooLate` |", "line 14: it has 3 columns, and its table 4"},
		"a column too many":   {"early,", "early | or", "line 14: it has 5 columns, and its table 4"},
		"a reason of nobody":  {"`TooLate`", "`TooEarly`", "line 14: nothing says TooEarly"},
		"a field that is not": {"spec.a.pod.", "spec.c.", "line 10: spec.c.spec.containers is no field of the API"},
		"a field left out":    {"spec.{a,b}.size", "spec.a.size", "spec.b.size stands in no table of fields of Old"},
		"its parent alone":    {"spec.{a,b}.size", "spec.{a,b}", "spec.a.size stands in no table of fields of Old"},
		"no field at all":     {"`spec.a.pod`, `spec.a.pod.spec.containers`", "containers", "line 10: it names no field"},
		"another's table":     {"| behaviour | Old |", "| behaviour | New |", "line 14: nothing is known of New"},
		"not told by whom":    {"| behaviour | Old |", "| thing | Old |", "line 12: the table is of things, not of fields or behaviours"},
		"no behaviours":       {"| behaviour | Old |", "| field | Old |", "there is no table of behaviours of Old"},
	} {
		t.Run(name, func(t *testing.T) {
			require.Contains(t, soundTables, test.old)
			broken := brokenRows(strings.Replace(soundTables, test.old, test.text, 1), soundTests, soundWords, soundFields)
			require.Contains(t, strings.Join(broken, "\n"), test.want)
		})
	}
}

func TestFieldsOfATypeAreItsOwn(t *testing.T) {
	got := fieldsOf(reflect.TypeFor[kubeflowv1.PaddleJob]())
	for path, leaf := range map[string]bool{
		"spec": false, "spec.runPolicy": false, "spec.runPolicy.schedulingPolicy.queue": true, "spec.paddleReplicaSpecs": false,
		"spec.paddleReplicaSpecs.*.template": true, "spec.elasticPolicy.metrics": true, "status.conditions[].lastUpdateTime": true,
		"status.startTime": true, "status.replicaStatuses.*.labelSelector": true,
	} {
		found, known := got[path]
		require.True(t, known, path)
		require.Equal(t, leaf, found, path)
	}
	for _, foreign := range []string{"metadata", "kind", "spec.paddleReplicaSpecs.*.template.spec", "spec.elasticPolicy.metrics[].type"} {
		require.NotContains(t, got, foreign)
	}
	require.Equal(t, []string{"a.b.d", "a.c.d", "a.b.e", "a.c.e"}, expanded("a.{b,c}.{d,e}"))
	require.Equal(t, []string{"a.b"}, expanded("a.b"))
}

func TestTestsAreThoseOfTheFiles(t *testing.T) {
	tree := load(t, map[string]string{
		"a/b/x_test.go": header + "package b\n\nfunc TestA(t *testing.T) {}\n\nfunc FuzzB(f *testing.F) {}\n\nfunc TestMain(m *testing.M) {}\n\n" +
			"func helper(t *testing.T) {}\n\nfunc (s suite) TestC(t *testing.T) {}\n\nfunc TestD() {}\n\nfunc Testify(t *testing.T) {}\n",
		"a/b/x.go": header + "package b\n\nfunc TestE(t *testing.T) {}\n",
	})
	require.Equal(t, map[string]map[string]bool{"a/b": {"TestA": true, "FuzzB": true}}, testsIn(tree))
}
