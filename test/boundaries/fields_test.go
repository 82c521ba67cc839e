// SPDX-License-Identifier: Apache-2.0

package boundaries

import (
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	batchv1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	kubeflowv1 "github.com/paddle-volcano/paddle-volcano/controller/api/kubeflow/v1"
)

var (
	fieldPath = regexp.MustCompile("`((?:spec|status|metadata)[][.*{},A-Za-z]*)`")
	// reason is a word with a capital letter within.
	reason = regexp.MustCompile("`([A-Z][A-Za-z0-9]*[a-z][A-Z][A-Za-z0-9]*)`")
)

// brokenRows returns the faults of the tables in a text. known has the reasons that the controller's code has. apis has the fields of each
// API, by the name of the second column.
func brokenRows(text string, known map[string]bool, apis map[string]map[string]bool) (broken []string) {
	var header []string
	named := map[string]bool{}
	for number, line := range strings.Split(text, "\n") {
		say := func(format string, args ...any) {
			broken = append(broken, fmt.Sprintf("line %d: ", number+1)+fmt.Sprintf(format, args...))
		}
		cells := strings.Split(strings.Trim(strings.ReplaceAll(line, `\|`, "/"), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case !strings.HasPrefix(line, "|"):
			header = nil
			continue
		case header == nil:
			header = cells
			continue
		case strings.HasPrefix(line, "|---"):
			continue
		case len(cells) != len(header):
			say("it has %d columns, and its table %d", len(cells), len(header))
			continue
		}
		fields := apis[header[1]]
		for _, found := range fieldPath.FindAllStringSubmatch(cells[0], -1) {
			for _, field := range expanded(found[1]) {
				named[header[1]+" "+field] = true
				if !has(fields, field) {
					say("%s is no field of %s", field, header[1])
				}
			}
		}
		for _, found := range reason.FindAllStringSubmatch(cells[len(cells)-1], -1) {
			if !known[found[1]] {
				say("nothing says %s", found[1])
			}
		}
	}
	for api, fields := range apis {
		for field, leaf := range fields {
			if leaf && !named[api+" "+field] {
				broken = append(broken, fmt.Sprintf("%s is in no table of %s", field, api))
			}
		}
	}
	return broken
}

// expanded writes a path with alternatives, such as spec.{ps,worker}.replicas, as one path for each.
func expanded(field string) (fields []string) {
	before, rest, some := strings.Cut(field, "{")
	choices, after, closed := strings.Cut(rest, "}")
	if !some || !closed {
		return []string{field}
	}
	for _, end := range expanded(after) {
		for choice := range strings.SplitSeq(choices, ",") {
			fields = append(fields, before+choice+end)
		}
	}
	return fields
}

// has reports whether a path is a field, or is below one whose type is not the API's own.
func has(fields map[string]bool, field string) bool {
	if _, found := fields[field]; found || strings.HasPrefix(field, "metadata.") {
		return true
	}
	for leaf, is := range fields {
		if is && (strings.HasPrefix(field, leaf+".") || strings.HasPrefix(field, leaf+"[")) {
			return true
		}
	}
	return false
}

// addFields adds the fields of a type, down to types that are not of this API: those are true.
func addFields(fields map[string]bool, field string, t reflect.Type) {
	own := func(t reflect.Type) bool {
		return t.Kind() == reflect.Struct && strings.Contains(t.PkgPath(), "/paddle-volcano/controller/api/")
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if suffix := map[reflect.Kind]string{reflect.Map: ".*", reflect.Slice: "[]"}[t.Kind()]; suffix != "" {
		elem := t.Elem()
		for elem.Kind() == reflect.Pointer {
			elem = elem.Elem()
		}
		if own(elem) {
			fields[field] = false
			field, t = field+suffix, elem
		}
	}
	fields[field] = !own(t)
	for i := 0; own(t) && i < t.NumField(); i++ {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		addFields(fields, field+"."+name, t.Field(i).Type)
	}
}

func fieldsOf(spec, status any) map[string]bool {
	fields := map[string]bool{}
	addFields(fields, "spec", reflect.TypeOf(spec))
	addFields(fields, "status", reflect.TypeOf(status))
	return fields
}

// fields.md says something of each field, and no reason that the controller does not give.
func TestEveryFieldHasARow(t *testing.T) {
	text, err := os.ReadFile("../../deploy/docs/reference/fields.md")
	require.NoError(t, err)
	known := map[string]bool{}
	for name, file := range load(t, os.DirFS("../..")) {
		if strings.HasPrefix(name, "controller/") && !strings.HasSuffix(name, "_test.go") {
			_, all := texts(file)
			for _, word := range all {
				known[word] = true
			}
		}
	}
	apis := map[string]map[string]bool{
		"paddle-operator": fieldsOf(batchv1.PaddleJobSpec{}, batchv1.PaddleJobStatus{}),
		"Kubeflow":        fieldsOf(kubeflowv1.PaddleJob{}.Spec, kubeflowv1.PaddleJob{}.Status),
	}
	for field, leaf := range map[string]bool{
		"spec.runPolicy": false, "spec.paddleReplicaSpecs.*.template": true, "status.conditions[].lastUpdateTime": true, "spec.elasticPolicy.metrics": true,
	} {
		found, is := apis["Kubeflow"][field]
		require.True(t, is, field)
		require.Equal(t, leaf, found, field)
	}
	broken := brokenRows(string(text), known, apis)
	require.Empty(t, broken, strings.Join(broken, "\n"))
}

func TestFieldTablesCanBeBroken(t *testing.T) {
	const sound = "| field | Old | here |\n|---|---|---|\n" +
		"| `spec.{a,b}.size`, `metadata.name` | any | `a\\|b` |\n" +
		"| `spec.a.pod.spec.x`, `spec.a.pod` | any | `TooLate` |\n"
	known := map[string]bool{"TooLate": true}
	apis := map[string]map[string]bool{"Old": {"spec.a": false, "spec.a.size": true, "spec.b.size": true, "spec.a.pod": true}}
	require.Empty(t, brokenRows(sound, known, apis))
	for _, tc := range []struct{ old, text, want string }{
		{"| `TooLate` |", "|", "line 4: it has 2 columns, and its table 3"},
		{"TooLate", "TooEarly", "line 4: nothing says TooEarly"},
		{"spec.a.pod.spec", "spec.c", "line 4: spec.c.x is no field of Old"},
		{"spec.{a,b}.size", "spec.a.size", "spec.b.size is in no table of Old"},
		{"| Old |", "| New |", "spec.a.pod is in no table of Old"},
	} {
		require.Contains(t, sound, tc.old)
		require.True(t, slices.ContainsFunc(brokenRows(strings.Replace(sound, tc.old, tc.text, 1), known, apis), func(b string) bool {
			return strings.Contains(b, tc.want)
		}), tc.want)
	}
}
