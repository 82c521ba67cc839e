// SPDX-License-Identifier: Apache-2.0

package command

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
)

// commandWarnings returns what is known to keep the commands of a job's pods from finding each other: a sentence each, with
// the field, the reason and the remedy. What a script does that a command starts is not known here.
func commandWarnings(job *v1.PaddleJob) (warnings []string) {
	for _, role := range builder.Roles(job) {
		if len(role.Spec.Template.Spec.Containers) == 0 {
			continue
		}
		c := &container{job: job, Container: &role.Spec.Template.Spec.Containers[0]}
		c.field = "spec." + role.Name + ".template.spec.containers[0]"
		c.commands = shellCommands(slices.Concat(c.Command, c.Args))
		warnings = slices.Concat(warnings, c.legacyVariables(), c.legacyOptions())
		if role.Name == builder.RoleWorker && builder.Mode(job) == v1.ModeCollective {
			warnings = slices.Concat(warnings, c.missingLauncher(), c.nodesByHand(), c.frontEndVariables())
		}
	}
	return warnings
}

// container is the one in which training runs.
type container struct {
	*corev1.Container
	job      *v1.PaddleJob
	field    string
	commands []shellCommand
}

// holding returns the path of the field that holds a word of the command.
func (c *container) holding(word string) string {
	if slices.ContainsFunc(c.Command, func(s string) bool { return strings.Contains(s, word) }) {
		return c.field + ".command"
	}
	return c.field + ".args"
}

// shellCommand is one command of a shell's text, or the whole command where there is no shell.
type shellCommand struct {
	variables map[string]string
	words     []string
}

var (
	separators = strings.NewReplacer("\\\n", " ", "\n", " ; ", "&&", " ; ", "||", " ; ", "|", " ; ", ";", " ; ")
	assignment = regexp.MustCompile(`^([A-Z_a-z][A-Z_a-z0-9]*)=(.*)$`)
	python     = regexp.MustCompile(`^python[0-9.]*$`)
	shellText  = regexp.MustCompile(`^-[a-z]*c$`)
)

// shellCommands splits the elements of a container's command. The one behind -c is the text of a shell.
func shellCommands(elements []string) (all []shellCommand) {
	var words []string
	for i, element := range elements {
		if i > 0 && shellText.MatchString(elements[i-1]) {
			words = append(append(words, ";"), strings.Fields(separators.Replace(element))...)
		} else {
			words = append(words, element)
		}
	}
	one := shellCommand{variables: map[string]string{}}
	for _, word := range append(words, ";") {
		word = strings.Trim(word, `"'()`)
		pair := assignment.FindStringSubmatch(word)
		switch {
		case word == ";":
			all = append(all, one)
			one = shellCommand{variables: map[string]string{}}
		case pair != nil && (len(one.words) == 0 || one.words[0] == "export" || one.words[0] == "env"):
			one.variables[pair[1]] = strings.Trim(pair[2], `"'`)
		default:
			one.words = append(one.words, word)
		}
	}
	return slices.DeleteFunc(all, func(c shellCommand) bool { return len(c.words) > 0 && strings.HasPrefix(c.words[0], "#") })
}

// launcherOptions returns the words between the launcher and the script, and whether this is the launcher.
func (c *shellCommand) launcherOptions() ([]string, bool) {
	at := slices.IndexFunc(c.words, func(word string) bool {
		return word == "paddle.distributed.launch" || word == "paddle.distributed.fleet.launch" || path.Base(word) == "fleetrun"
	})
	if at < 0 {
		return nil, false
	}
	options := c.words[at+1:]
	if end := slices.IndexFunc(options, func(word string) bool { return strings.HasSuffix(word, ".py") }); end >= 0 {
		options = options[:end]
	}
	return options, true
}

// frontEnd returns the name of the command line of Paddle's that this is, or "".
func (c *shellCommand) frontEnd() string {
	for _, word := range c.words {
		if name := path.Base(word); name == "paddleformers-cli" || name == "erniekit" {
			return name
		}
	}
	return ""
}

// script returns the program that python runs, or "".
func (c *shellCommand) script() string {
	at := slices.IndexFunc(c.words, func(word string) bool { return python.MatchString(path.Base(word)) })
	if at < 0 {
		return ""
	}
	for _, word := range c.words[at+1:] {
		switch {
		case word == "-m":
			return ""
		case strings.HasSuffix(word, ".py"):
			return word
		}
	}
	return ""
}

func (c *container) missingLauncher() []string {
	found := ""
	for i := range c.commands {
		one := &c.commands[i]
		_, launches := one.launcherOptions()
		// PaddleX's main.py starts the launcher itself where it is given dist_ips.
		// So may a shell script.
		itself := slices.ContainsFunc(one.words, func(word string) bool { return strings.Contains(word, "dist_ips") || strings.HasSuffix(word, ".sh") })
		if launches || one.frontEnd() != "" || itself {
			return nil
		}
		found = cmp.Or(found, one.script())
	}
	if found == "" {
		return nil
	}
	return []string{fmt.Sprintf("%s starts %s in each worker without a launcher, and without servers the workers find each other through it alone: "+
		"each trains by itself, or fails; write python -m paddle.distributed.launch %s", c.holding(found), found, found)}
}

// nodesByHand is about arguments that the launcher does not use, because the controller's variables win.
func (c *container) nodesByHand() (warnings []string) {
	if builder.Elastic(c.job) {
		return nil
	}
	for i := range c.commands {
		options, _ := c.commands[i].launcherOptions()
		for at, word := range options {
			name, value, joined := strings.Cut(word, "=")
			if !joined && at+1 < len(options) {
				value = options[at+1]
			}
			instead := map[string]string{"--nnodes": "$(NNODES)", "--master": "$(MASTER_ADDR):$(MASTER_PORT)"}[name]
			if instead == "" || value == "" || strings.Contains(value, "$") || value == strconv.Itoa(int(c.job.Spec.Worker.Replicas)) {
				continue
			}
			warnings = append(warnings, fmt.Sprintf("%s has %s %s, which is not what the controller sets for %d workers: the launcher ignores it, because "+
				"PADDLE_TRAINER_ENDPOINTS wins, and a script that unsets that waits for nodes that do not come; leave it out, or write %s",
				c.holding(name), name, value, c.job.Spec.Worker.Replicas, instead))
		}
	}
	return warnings
}

// frontEndVariables is about values that win over the controller's.
func (c *container) frontEndVariables() (warnings []string) {
	exported := map[string]string{}
	for i := range c.commands {
		one := &c.commands[i]
		if len(one.words) == 0 || one.words[0] == "export" {
			maps.Copy(exported, one.variables)
		}
		front := one.frontEnd()
		if front == "" {
			continue
		}
		var names []string
		if !builder.Elastic(c.job) {
			names = []string{"NNODES", "MASTER_ADDR", "MASTER_PORT"}
		}
		if front == "paddleformers-cli" {
			names = append(names, "RANK")
		}
		for _, name := range names {
			field, value := c.field+".env", ""
			if at := slices.IndexFunc(c.Env, func(e corev1.EnvVar) bool { return e.Name == name }); at >= 0 {
				value = cmp.Or(c.Env[at].Value, "a value of its own")
			}
			if text := cmp.Or(one.variables[name], exported[name]); text != "" && !strings.Contains(text, "$") {
				field, value = c.holding(name+"="), text
			}
			if value == "" || name == "NNODES" && value == strconv.Itoa(int(c.job.Spec.Worker.Replicas)) {
				continue
			}
			warnings = append(warnings, fmt.Sprintf("%s sets %s to %s, which %s passes on to the launcher in place of the controller's: "+
				"unless it is right in every pod, they form no job; leave it out", field, name, value, front))
		}
	}
	return warnings
}

// legacyOptions is about options of the launcher before 2.4, and the one that asks for it, whose value stands behind a space.
func (c *container) legacyOptions() (warnings []string) {
	old := []string{"--selected_gpu", "--selected_gpus", "--workers", "--heter_workers", "--worker_num", "--heter_worker_num", "--http_port", "--legacy"}
	for i := range c.commands {
		options, _ := c.commands[i].launcherOptions()
		for at, word := range options {
			if strings.HasPrefix(word, "--legacy=") {
				break // the older launcher knows what follows
			}
			if slices.Contains(old, word) && at+1 < len(options) && !strings.HasPrefix(options[at+1], "-") {
				warnings = append(warnings, fmt.Sprintf("%s has %s %s: since Paddle 2.4 the launcher drops the name of such an old option and takes the "+
					"value behind the space for the program to run; write --gpus for devices, and leave others out, or write %[2]s=%[3]s",
					c.holding(word), word, options[at+1]))
			}
		}
	}
	return warnings
}

// legacyNames are variables by which the launcher leaves the ones that the controller sets alone.
var legacyNames = map[string]string{
	"DISTRIBUTED_TRAINER_ENDPOINTS": "it wins over the controller's list of peers in every release of the launcher",
	"FLAGS_START_PORT":              "the launcher of Paddle 2.3 runs as that of 2.2 then, whose ports are not those of the pod",
	"PADDLE_ELASTIC_JOB_ID":         "the launcher of Paddle 2.3 runs as that of 2.2 then, which is not elastic here",
}

func (c *container) legacyVariables() (warnings []string) {
	for _, name := range slices.Sorted(maps.Keys(legacyNames)) {
		field := ""
		if slices.ContainsFunc(c.Env, func(e corev1.EnvVar) bool { return e.Name == name }) {
			field = c.field + ".env"
		}
		if slices.ContainsFunc(c.commands, func(one shellCommand) bool { _, set := one.variables[name]; return set }) {
			field = c.holding(name + "=")
		}
		if field != "" {
			warnings = append(warnings, fmt.Sprintf("%s sets %s: %s; leave it out", field, name, legacyNames[name]))
		}
	}
	return warnings
}
