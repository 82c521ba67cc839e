// SPDX-License-Identifier: Apache-2.0

package command

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
)

// commandRule is about a command that is known to ignore its peers.
type commandRule struct {
	// pattern is of a command that begins with its variables and ends with the program that python runs.
	pattern *regexp.Regexp
	// applies reports whether a match keeps the pods from training as one job; nil is always.
	applies func(c *commands, match []string) bool
	// message follows the field. $1 and $2 are groups of the pattern.
	message string
}

const (
	assignments = `^(?:(?:env|export|\w+=\S*) )*`
	launcher    = `(?:paddle\.distributed\.(?:fleet\.)?launch|(?:^|[ /])fleetrun) (?:\S+ )*?`
	oldOptions  = `(--(?:selected_gpus?|workers|heter_workers|worker_num|heter_worker_num|http_port|legacy)) ([^-\s]\S*)`
	leftOut     = "unless it is right in every pod, they form no job; leave it out"
)

// commandRules are in the order of the warnings.
var commandRules = []commandRule{
	{
		regexp.MustCompile(assignments + `(DISTRIBUTED_TRAINER_ENDPOINTS)=`), nil,
		"sets $1: it wins over the controller's list of peers in every release of the launcher; leave it out",
	},
	{
		regexp.MustCompile(assignments + `(FLAGS_START_PORT)=`), nil,
		"sets $1: the launcher of Paddle 2.3 runs as that of 2.2 then, whose ports are not those of the pod; leave it out",
	},
	{
		regexp.MustCompile(assignments + `(PADDLE_ELASTIC_JOB_ID)=`), nil,
		"sets $1: the launcher of Paddle 2.3 runs as that of 2.2 then, which is not elastic here; leave it out",
	},
	{
		regexp.MustCompile(launcher + oldOptions), notLegacy,
		"has $1 $2: since Paddle 2.4 the launcher drops the name of such an old option and takes the value behind the space for the program " +
			"to run; write --gpus for devices, and leave others out, or write $1=$2",
	},
	{
		regexp.MustCompile(`(?:^|[ /])python[0-9.]*(?: -[^m ]\S*)* (\S+\.py)$`), notLaunched,
		"starts $1 in each worker without a launcher, and without servers the workers find each other through it alone: each trains by itself, " +
			"or fails; write python -m paddle.distributed.launch $1",
	},
	{
		regexp.MustCompile(launcher + `--master[= ]([^\s$]+:[^\s$]+)`), unequal,
		"has --master $1: the launcher ignores it, because PADDLE_TRAINER_ENDPOINTS wins, and a script that unsets that waits for a node that " +
			"does not come; leave it out, or write $$(MASTER_ADDR):$$(MASTER_PORT)",
	},
	{
		regexp.MustCompile(launcher + `--nnodes[= ]([0-9:]+)`), unequal,
		"has --nnodes $1, and the job has another number of workers: the launcher ignores it, because PADDLE_TRAINER_ENDPOINTS wins, and a script " +
			"that unsets that waits for nodes that do not come; leave it out, or write $$(NNODES)",
	},
	{setFor(`NNODES`, `paddleformers-cli|erniekit`), unequal, "sets NNODES to $1, which $2 passes on to the launcher in place of the controller's: " + leftOut},
	{setFor(`MASTER_ADDR`, `paddleformers-cli|erniekit`), unequal, "sets MASTER_ADDR to $1, which $2 passes on in place of the controller's: " + leftOut},
	{setFor(`MASTER_PORT`, `paddleformers-cli|erniekit`), unequal, "sets MASTER_PORT to $1, which $2 passes on in place of the controller's: " + leftOut},
	{setFor(`RANK`, `paddleformers-cli`), collective, "sets RANK to $1, which $2 passes on in place of the controller's: " + leftOut},
}

// setFor returns the pattern of a variable that is set to a text of its own for one of some programs.
func setFor(name, programs string) *regexp.Regexp {
	return regexp.MustCompile(assignments + name + `=([^\s$]+) (?:\S+ )*?(?:\S*/)?(` + programs + `)(?: |$)`)
}

// notLegacy reports whether no --legacy= stands before the option, which selects the launcher that knows it.
func notLegacy(_ *commands, match []string) bool { return !strings.Contains(match[0], "--legacy=") }

// collective reports whether workers find each other through the launcher.
func collective(c *commands, _ []string) bool { return builder.Mode(c.job) == v1.ModeCollective }

// unequal reports whether the number of nodes is fixed, and another one than what was found.
func unequal(c *commands, match []string) bool {
	return collective(c, match) && !builder.Elastic(c.job) && match[1] != strconv.Itoa(int(c.job.Spec.Worker.Replicas))
}

var launches = regexp.MustCompile(`paddle\.distributed\.|fleetrun|paddleformers-cli|erniekit|dist_ips|\.sh\b`)

// notLaunched reports whether no command is known to start the launcher, or may do so: a shell script, or PaddleX by dist_ips.
func notLaunched(c *commands, match []string) bool {
	return collective(c, match) && !slices.ContainsFunc(c.all, launches.MatchString)
}

// commands are those of a role's first container, each behind the variables that are set for it.
type commands struct {
	job *v1.PaddleJob
	all []string
}

// commandWarnings returns what is known to keep the commands of a job's pods from finding each other: a sentence each, with
// the field, the reason and the remedy. What a script does that a command starts is not known here.
func commandWarnings(job *v1.PaddleJob) (warnings []string) {
	for _, role := range builder.Roles(job) {
		if len(role.Spec.Template.Spec.Containers) == 0 {
			continue
		}
		c := &commands{job, commandsOf(&role.Spec.Template.Spec.Containers[0])}
		for _, rule := range commandRules {
			for _, command := range c.all {
				if program, _, runs := strings.Cut(command, ".py"); runs {
					command = program + ".py"
				}
				match := rule.pattern.FindStringSubmatchIndex(command)
				if match == nil || rule.applies != nil && !rule.applies(c, rule.pattern.FindStringSubmatch(command)) {
					continue
				}
				text := "spec." + role.Name + ".template.spec.containers[0] " + string(rule.pattern.ExpandString(nil, rule.message, command, match))
				if !slices.Contains(warnings, text) {
					warnings = append(warnings, text)
				}
			}
		}
	}
	return warnings
}

var (
	shellText  = regexp.MustCompile(`^-[a-z]*c$`)
	separators = strings.NewReplacer("\\\n", " ", "\n", ";", "&", ";", "|", ";", `"`, "", "'", "")
	setting    = regexp.MustCompile(`^(?:export .*|\w+=\S*(?: \w+=\S*)*)$`)
)

// commandsOf returns the commands of a container. The element behind -c is the text of a shell, which may have several.
func commandsOf(c *corev1.Container) (all []string) {
	var variables []string
	for _, variable := range c.Env {
		variables = append(variables, variable.Name+"="+word(cmp.Or(variable.Value, "valueFrom")))
	}
	var lines strings.Builder
	elements := slices.Concat(c.Command, c.Args)
	for i, element := range elements {
		if i > 0 && shellText.MatchString(elements[i-1]) {
			lines.WriteString("\n" + strings.ReplaceAll(separators.Replace(element), ";", "\n"))
		} else {
			lines.WriteString(" " + word(element))
		}
	}
	for one := range strings.SplitSeq(lines.String(), "\n") {
		one = strings.Join(strings.Fields(one), " ")
		switch {
		case setting.MatchString(one):
			variables = append(variables, one)
		case one != "" && !strings.HasPrefix(one, "#"):
			all = append(all, strings.Join(append(variables, one), " "))
		}
	}
	if len(all) == 0 {
		all = append(all, strings.Join(variables, " "))
	}
	return all
}

// word returns a text without the blanks in it.
func word(text string) string { return strings.Join(strings.Fields(text), "_") }
