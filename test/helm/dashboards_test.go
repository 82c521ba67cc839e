// SPDX-License-Identifier: Apache-2.0

package helm_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

const watched = root + "/deploy/dashboards"

// targets are labels that Prometheus gives to all that it collects.
var targets = []string{"job", "namespace", "pod", "instance"}

// query is an expression of a dashboard or of an alert, with the labels that its legend or its words name.
type query struct {
	where, text string
	shown       []string
}

// dashboard reads the queries of a dashboard.
func dashboard(t *testing.T, file string) []query {
	t.Helper()
	data, err := os.ReadFile(watched + "/" + file)
	require.NoError(t, err)
	var board struct {
		UID    string
		Panels []struct {
			Title   string
			GridPos struct{ W, H int }
			Targets []struct{ Expr, LegendFormat string }
		}
	}
	require.NoError(t, json.Unmarshal(data, &board))
	require.NotEmpty(t, board.UID)
	var all []query
	for _, panel := range board.Panels {
		require.NotEmpty(t, panel.Targets, panel.Title)
		require.NotZero(t, panel.GridPos.W*panel.GridPos.H, panel.Title)
		for _, target := range panel.Targets {
			all = append(all, query{file + ": " + panel.Title, target.Expr, submatches(`\{\{(\w+)\}\}`, target.LegendFormat)})
		}
	}
	return all
}

// alerts reads the queries of a group of alerts.
func alerts(t *testing.T, group string) []query {
	t.Helper()
	data, err := os.ReadFile(watched + "/alerts.yaml")
	require.NoError(t, err)
	var rule struct {
		Spec struct {
			Groups []struct {
				Name  string
				Rules []struct {
					Alert, Expr         string
					Labels, Annotations map[string]string
				}
			}
		}
	}
	require.NoError(t, yaml.Unmarshal(data, &rule))
	var all []query
	for _, g := range rule.Spec.Groups {
		if g.Name != group {
			continue
		}
		for _, r := range g.Rules {
			require.Contains(t, []string{"warning", "critical"}, r.Labels["severity"], r.Alert)
			require.NotEmpty(t, r.Annotations["summary"], r.Alert)
			require.NotEmpty(t, r.Annotations["description"], r.Alert)
			words := r.Annotations["summary"] + r.Annotations["description"]
			all = append(all, query{"alert " + r.Alert, r.Expr, submatches(`\$labels\.(\w+)`, words)})
		}
	}
	require.NotEmpty(t, all, group)
	return all
}

func submatches(pattern, text string) []string {
	var all []string
	for _, match := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
		all = append(all, match[1])
	}
	return all
}

var (
	grouping = regexp.MustCompile(`\b(?:by|without|on|ignoring)\s*\(([^)]*)\)`)
	during   = regexp.MustCompile(`\[[^\]]*\]`)
	// operand is a metric with its matchers, a function with its bracket, or one of the operators.
	operand   = regexp.MustCompile(`([a-zA-Z_:][\w:]*)\s*(\(|\{[^}]*\})?`)
	operators = []string{"or", "and", "unless"}
	matcher   = regexp.MustCompile(`(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"`)
)

// served returns the values of each label of each metric.
func served(samples map[string]float64) map[string]map[string][]string {
	all := map[string]map[string][]string{}
	for sample := range samples {
		name, rest, _ := strings.Cut(sample, "{")
		if all[name] == nil {
			all[name] = map[string][]string{}
		}
		for _, m := range matcher.FindAllStringSubmatch(rest, -1) {
			all[name][m[1]] = append(all[name][m[1]], m[3])
		}
	}
	return all
}

// faults returns what is wrong with queries about samples as a component serves them, name{label="value"}: each metric and each
// label must be there, and where a label must be one value, that value.
func faults(samples map[string]float64, queries []query) (wrong []string) {
	values := served(samples)
	for _, q := range queries {
		say := func(format string, args ...any) { wrong = append(wrong, q.where+": "+fmt.Sprintf(format, args...)) }
		if strings.Count(q.text, "(") != strings.Count(q.text, ")") {
			say("a bracket is missing")
		}
		text := during.ReplaceAllString(q.text, "")
		var by, labels []string
		for _, list := range submatches(grouping.String(), text) {
			by = append(by, strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })...)
		}
		asked := false
		for _, found := range operand.FindAllStringSubmatch(grouping.ReplaceAllString(text, " "), -1) {
			name, rest := found[1], found[2]
			if rest == "(" || slices.Contains(operators, name) {
				continue
			}
			asked = true
			if values[name] == nil {
				say("no program serves %s", name)
				continue
			}
			labels = append(labels, slices.Collect(maps.Keys(values[name]))...)
			for _, m := range matcher.FindAllStringSubmatch(rest, -1) {
				switch label := m[1]; {
				case slices.Contains(targets, label):
				case values[name][label] == nil:
					say("%s has no label %s", name, label)
				case m[2] == "=" && !slices.Contains(values[name][label], m[3]):
					say("%s of %s is never %s", label, name, m[3])
				}
			}
		}
		if !asked {
			say("it asks for no metric")
		}
		for _, label := range by {
			if !slices.Contains(labels, label) {
				say("no metric has the label %s", label)
			}
		}
		for _, label := range q.shown {
			if !slices.Contains(by, label) {
				say("%s is shown, and the result has no such label", label)
			}
		}
	}
	return wrong
}

func requireServed(t *testing.T, samples map[string]float64, queries []query) {
	t.Helper()
	wrong := faults(samples, queries)
	require.Empty(t, wrong, strings.Join(wrong, "\n"))
}

func TestFaultsOfQueries(t *testing.T) {
	t.Parallel()
	samples := map[string]float64{`jobs{phase="Running"}`: 1, `took_bucket{le="1",result="ok"}`: 2, "errors": 0}
	for text, want := range map[string][]string{
		`max by (phase) (jobs{job=~".*"}) > 0.5`:                                            nil,
		`histogram_quantile(0.9, sum by (le, result) (rate(took_bucket{result="ok"}[5m])))`: nil,
		`sum(increase(errors[1h])) == 0 or absent(errors)`:                                  nil,
		`rate(error[5m])`:             {"x: no program serves error"},
		`jobs{state="Running"}`:       {"x: jobs has no label state"},
		`jobs{phase="Gone"}`:          {"x: phase of jobs is never Gone"},
		`jobs{phase=~"Gone|Running"}`: nil,
		`sum by (queue) (jobs)`:       {"x: no metric has the label queue"},
		`sum(jobs`:                    {"x: a bracket is missing"},
		`1 > 0`:                       {"x: it asks for no metric"},
	} {
		require.Equal(t, want, faults(samples, []query{{where: "x", text: text}}), text)
	}
	require.Equal(t, []string{"x: phase is shown, and the result has no such label"},
		faults(samples, []query{{where: "x", text: "sum(jobs)", shown: []string{"phase"}}}))
}

// What Helm installs is what lies there for those without Helm.
func TestDashboardsAndAlertsOfTheChart(t *testing.T) {
	t.Parallel()
	all := render(t, "scheduler.mode=replace", "dashboards.enabled=true", "prometheusRule.enabled=true", "prometheusRule.labels.release=prometheus")
	boards := all["ConfigMap "+system+"/paddle-dashboards"]
	require.Equal(t, "1", boards.GetLabels()["grafana_dashboard"])
	data, _, err := unstructured.NestedStringMap(boards.Object, "data")
	require.NoError(t, err)
	require.Len(t, data, 2)
	for name, text := range data {
		file, err := os.ReadFile(watched + "/" + name)
		require.NoError(t, err)
		require.Equal(t, string(file), text)
	}
	rule := all["PrometheusRule "+system+"/paddle-volcano"]
	require.Equal(t, "prometheus", rule.GetLabels()["release"])
	file, err := os.ReadFile(watched + "/alerts.yaml")
	require.NoError(t, err)
	plain := map[string]any{}
	require.NoError(t, yaml.Unmarshal(file, &plain))
	require.Equal(t, plain["spec"], rule.Object["spec"])

	groups, _, err := unstructured.NestedSlice(render(t, "prometheusRule.enabled=true")["PrometheusRule "+system+"/paddle-volcano"].Object, "spec", "groups")
	require.NoError(t, err)
	require.Len(t, groups, 1, "without paddle-scheduler no alert says that it is missing")
}
