// SPDX-License-Identifier: Apache-2.0

// Package lint checks a volcano-scheduler.conf: what Volcano's own loader and strict decoding say, the plugin's
// arguments, and settings that are valid and rarely meant. It needs no cluster.
package lint

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"volcano.sh/volcano/pkg/scheduler"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/config"
)

// Result is what Check found.
type Result struct {
	Errors   []error
	Warnings []error
}

// Check checks a volcano-scheduler.conf, or each in the ConfigMaps of a manifest. It knows the actions and plugins that are
// registered with Volcano's framework. Lines of a ConfigMap count from the first of its text.
func Check(file []byte) Result {
	var r Result
	texts, err := config.Find(file)
	if err != nil {
		r.error(err)
	}
	for _, text := range texts {
		r.check(text)
	}
	return r
}

func (r *Result) check(text string) {
	parsed, ignored, err := config.Parse(text)
	if err != nil {
		r.error(err)
		return
	}
	for _, what := range ignored {
		r.error(errors.New(what))
	}
	if strings.Contains("\n"+strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(text), "---")), "\n---") {
		r.error(errors.New("Volcano reads only the first document")) //nolint:staticcheck // a name begins it
	}
	if _, _, _, _, err := scheduler.UnmarshalSchedulerConf(text); err != nil {
		r.error(fmt.Errorf("Volcano rejects the configuration: %w", err)) //nolint:staticcheck // a name begins it
	}
	r.checkActions(parsed.Actions)
	r.checkPlugins(parsed.Tiers)
}

func (r *Result) error(err error) { r.Errors = append(r.Errors, err) }

func (r *Result) warn(path *field.Path, format string, args ...any) {
	r.Warnings = append(r.Warnings, fmt.Errorf("%v: %w", path, fmt.Errorf(format, args...)))
}

// Print writes a line for each error and each warning, and one with their numbers. Each begins with the file's name.
func (r *Result) Print(to io.Writer, name string) error {
	var text strings.Builder
	for _, err := range r.Errors {
		fmt.Fprintf(&text, "%s: error: %v\n", name, err)
	}
	for _, err := range r.Warnings {
		fmt.Fprintf(&text, "%s: warning: %v\n", name, err)
	}
	fmt.Fprintf(&text, "%s: %d errors, %d warnings\n", name, len(r.Errors), len(r.Warnings))
	_, err := io.WriteString(to, text.String())
	return err
}

// names splits the list of actions as Volcano does.
func names(actions string) []string {
	all := strings.Split(actions, ",")
	for i := range all {
		all[i] = strings.TrimSpace(all[i])
	}
	return all
}

// checkActions is for what Volcano's loader accepts.
func (r *Result) checkActions(actions string) {
	path := field.NewPath("actions")
	all := names(actions)
	allocate, preempt := slices.Index(all, "allocate"), slices.Index(all, "preempt")
	switch {
	case allocate < 0:
		r.error(field.Invalid(path, actions, "without allocate no job is placed"))
	case preempt >= 0 && preempt < allocate:
		r.warn(path, "preempt is before allocate: Volcano then reserves nodes for waiting gangs in each cycle and may bind none of them")
	}
}
