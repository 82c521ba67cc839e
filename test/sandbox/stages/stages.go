// SPDX-License-Identifier: Apache-2.0

// Package stages is kwok's configuration in a sandbox: how the simulated nodes live, and what happens to the pods on them.
//
// The files next to it are templates of kwok's stages. Annotations of a pod choose when and how it ends.
package stages

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"text/template"
	"time"

	batchv1alpha1 "volcano.sh/apis/pkg/apis/batch/v1alpha1"
)

// Annotations of a simulated pod; test/sandbox/README.md describes them.
const (
	annotationPrefix = "sandbox.paddle-volcano.io/"
	// AnnotationRunFor is how long the pod runs before it ends: a Go duration, or "forever".
	AnnotationRunFor = annotationPrefix + "run-for"
	// AnnotationExitCode is the exit code that its containers end with, "0" to "255".
	AnnotationExitCode = annotationPrefix + "exit-code"
	// AnnotationFailAttempt limits AnnotationExitCode to one attempt, counted from "0": restarts of the gang and
	// restarts in place count alike.
	AnnotationFailAttempt = annotationPrefix + "fail-attempt"
)

var (
	//go:embed outcome.jq
	outcomeProgram string
	//go:embed pod.yaml
	podStages string
	//go:embed kwok.yaml
	kwokSettings string
	//go:embed node.yaml
	nodeStages string
)

// ending is one of the ways in which a running pod's containers end.
type ending struct {
	Outcome  string
	Restarts bool
	Phase    string
	Reason   string
	// ExitCode is an expression in kwok's template language.
	ExitCode string
}

const (
	exitCodeZero    = `0`
	exitCodeWritten = `index .metadata.annotations "` + AnnotationExitCode + `"`
)

var endings = []ending{
	{Outcome: "succeed", Phase: "Succeeded", Reason: "PodCompleted", ExitCode: exitCodeZero},
	{Outcome: "fail", Phase: "Failed", Reason: "PodFailed", ExitCode: exitCodeWritten},
	{Outcome: "restart-done", Restarts: true, ExitCode: exitCodeZero},
	{Outcome: "restart-failed", Restarts: true, ExitCode: exitCodeWritten},
}

const refusalMessage = "one of the annotations " + AnnotationRunFor + " (5s, 1m30s, forever), " + AnnotationExitCode +
	" (0 to 255) and " + AnnotationFailAttempt + " (0, 1, ...) is invalid: correct it, and the pod starts"

// Config returns the configuration with all stages of nodes and pods. Pods of worker roles run for workerRunFor, where 0 means
// forever.
func Config(workerRunFor time.Duration) (string, error) {
	values := map[string]any{
		"Prefix": annotationPrefix, "RetryCount": batchv1alpha1.JobRetryCountKey, "WorkerRunFor": runForText(workerRunFor),
		"Ends": endings, "RefusalMessage": refusalMessage,
	}
	program, err := render("outcome.jq", outcomeProgram, nil, values)
	if err != nil {
		return "", err
	}
	pods, err := render("pod.yaml", podStages, template.FuncMap{
		"outcome": func(expression string) (string, error) { return quote(program + expression) },
		// One expression for a whole selector: kwok copies the pod for each that it evaluates, which was most of what it did.
		"when": func(condition string) (string, error) { return quote(program + "(" + condition + ") // empty") },
	}, values)
	if err != nil {
		return "", err
	}
	return strings.Join([]string{kwokSettings, nodeStages, pods}, "---\n"), nil
}

func runForText(d time.Duration) string {
	if d == 0 {
		return "forever"
	}
	return d.Round(time.Millisecond).String()
}

func render(name, text string, more template.FuncMap, values any) (string, error) {
	t := template.New(name).Delims("<<", ">>").Funcs(template.FuncMap{
		"quote": quote,
		"conditions": func(status, reason string) map[string]string {
			return map[string]string{"Status": status, "Reason": reason}
		},
		"sidecars": func(run bool) map[string]bool { return map[string]bool{"SidecarsRun": run} },
	}).Funcs(more)
	if _, err := t.Parse(text); err != nil {
		return "", fmt.Errorf("parse %s: %w", name, err)
	}
	var out bytes.Buffer
	if err := t.Execute(&out, values); err != nil {
		return "", fmt.Errorf("render %s: %w", name, err)
	}
	return out.String(), nil
}

// quote writes text as a YAML string on one line.
func quote(text string) (string, error) {
	data, err := json.Marshal(text)
	return string(data), err
}
