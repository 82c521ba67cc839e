// SPDX-License-Identifier: Apache-2.0

package launch

import (
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// Flags are arguments by the flag's name, without dashes.
type Flags map[string]string

// Command is how to run what a Deployment runs in a pod.
type Command struct {
	// Namespace and Account name the ServiceAccount.
	Namespace, Account string
	Args, Env          []string
}

// CommandOf reads a Deployment's first container. Overridden flags are removed from its arguments.
func CommandOf(d *appsv1.Deployment, override Flags) Command {
	pod := d.Spec.Template.Spec
	account := pod.ServiceAccountName
	if account == "" {
		account = pod.DeprecatedServiceAccount
	}
	if account == "" {
		account = "default"
	}
	container := pod.Containers[0]
	env, expand := environment(container.Env, d.Namespace)
	var args []string
	for _, arg := range container.Args {
		// Volcano's images start their program through a shell.
		if arg != "2>&1" {
			args = append(args, expand.Replace(arg))
		}
	}
	return Command{Namespace: d.Namespace, Account: account, Args: withFlags(args, override), Env: env}
}

// environment returns the container's variables whose value is known without a pod, and what expands $(NAME).
func environment(vars []corev1.EnvVar, namespace string) ([]string, *strings.Replacer) {
	var env, pairs []string
	for _, v := range vars {
		value := v.Value
		if v.ValueFrom != nil {
			if v.ValueFrom.FieldRef == nil || v.ValueFrom.FieldRef.FieldPath != "metadata.namespace" {
				continue
			}
			value = namespace
		}
		env = append(env, v.Name+"="+value)
		pairs = append(pairs, "$("+v.Name+")", value)
	}
	return env, strings.NewReplacer(pairs...)
}

// withFlags replaces flags in a list of arguments: those that stand there are taken out, and all are put at the end,
// in the order of their names.
func withFlags(args []string, override Flags) []string {
	var out []string
	for i := 0; i < len(args); i++ {
		name, _, hasValue := strings.Cut(strings.TrimLeft(args[i], "-"), "=")
		if _, ok := override[name]; !ok || !strings.HasPrefix(args[i], "-") {
			out = append(out, args[i])
			continue
		}
		if !hasValue && i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") {
			i++
		}
	}
	return append(out, override.Args()...)
}

// Args writes flags out in the order of their names.
func (f Flags) Args() []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(f)) {
		out = append(out, "--"+name+"="+f[name])
	}
	return out
}
