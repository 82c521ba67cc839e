// SPDX-License-Identifier: Apache-2.0

package helm_test

import (
	"encoding/json"
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
	grouping  = regexp.MustCompile(`\b(?:by|without|on|ignoring)\s*\(([^)]*)\)`)
	selector  = regexp.MustCompile(`([a-zA-Z_:][\w:]*)\s*\{([^}]*)\}`)
	matcher   = regexp.MustCompile(`(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"`)
	during    = regexp.MustCompile(`\[[^\]]*\]`)
	function  = regexp.MustCompile(`[a-zA-Z_][\w]*\s*\(`)
	plainName = regexp.MustCompile(`[a-zA-Z_:][\w:]*`)
)

// requireServed checks queries against samples as a component serves them, "name{label="value"}": each metric and each label is
// there, and where a label must be one value, that value is.
func requireServed(t *testing.T, samples map[string]float64, queries []query) {
	t.Helper()
	served := map[string]map[string][]string{} // values by label by metric
	for sample := range samples {
		name, rest, _ := strings.Cut(sample, "{")
		if served[name] == nil {
			served[name] = map[string][]string{}
		}
		for _, m := range matcher.FindAllStringSubmatch(rest, -1) {
			served[name][m[1]] = append(served[name][m[1]], m[3])
		}
	}
	for _, q := range queries {
		require.Equal(t, strings.Count(q.text, "("), strings.Count(q.text, ")"), q.where)
		metrics := map[string][][]string{} // matchers by metric
		rest := during.ReplaceAllString(q.text, "")
		grouped := submatches(grouping.String(), rest)
		rest = grouping.ReplaceAllString(rest, " ")
		for _, m := range selector.FindAllStringSubmatch(rest, -1) {
			metrics[m[1]] = append(metrics[m[1]], matcher.FindAllStringSubmatch(m[2], -1)...)
		}
		rest = function.ReplaceAllString(selector.ReplaceAllString(rest, " "), " ")
		for _, name := range plainName.FindAllString(rest, -1) {
			if name != "or" && name != "and" && name != "unless" {
				metrics[name] = append(metrics[name], nil...)
			}
		}
		require.NotEmpty(t, metrics, q.where)
		var labels []string
		for name, matchers := range metrics {
			require.Contains(t, served, name, "%s: nobody serves this metric", q.where)
			for label := range served[name] {
				labels = append(labels, label)
			}
			for _, m := range matchers {
				label, how, value := m[1], m[2], m[3]
				if slices.Contains(targets, label) {
					continue
				}
				require.Contains(t, served[name], label, "%s: %s has no such label", q.where, name)
				if how == "=" {
					require.Contains(t, served[name][label], value, "%s: %s is never that of %s", q.where, label, name)
				}
			}
		}
		var by []string
		for _, list := range grouped {
			for label := range strings.SplitSeq(list, ",") {
				by = append(by, strings.TrimSpace(label))
			}
		}
		for _, label := range by {
			require.Contains(t, labels, label, "%s: no metric has the label", q.where)
		}
		for _, label := range q.shown {
			require.Contains(t, by, label, "%s: what is shown is not in the result", q.where)
		}
	}
}

// What Helm installs is what lies there for those without Helm.
func TestDashboardsAndAlertsOfTheChart(t *testing.T) {
	t.Parallel()
	all := render(t, "scheduler.mode=replace", "dashboards.enabled=true", "prometheusRule.enabled=true", "prometheusRule.labels.release=prometheus")
	boards := all["ConfigMap "+system+"/paddle-dashboards"]
	require.Equal(t, map[string]string{"grafana_dashboard": "1"}, boards.GetLabels())
	data, _, err := unstructured.NestedStringMap(boards.Object, "data")
	require.NoError(t, err)
	require.Len(t, data, 2)
	for name, text := range data {
		file, err := os.ReadFile(watched + "/" + name)
		require.NoError(t, err)
		require.Equal(t, string(file), text)
	}
	rule := all["PrometheusRule "+system+"/paddle-volcano"]
	require.Equal(t, map[string]string{"release": "prometheus"}, rule.GetLabels())
	file, err := os.ReadFile(watched + "/alerts.yaml")
	require.NoError(t, err)
	plain := map[string]any{}
	require.NoError(t, yaml.Unmarshal(file, &plain))
	require.Equal(t, plain["spec"], rule.Object["spec"])

	groups, _, err := unstructured.NestedSlice(render(t, "prometheusRule.enabled=true")["PrometheusRule "+system+"/paddle-volcano"].Object, "spec", "groups")
	require.NoError(t, err)
	require.Len(t, groups, 1, "where there is no scheduler of ours nobody is told that it is missing")
}
