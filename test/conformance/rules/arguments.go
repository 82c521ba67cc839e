// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Release is a Paddle version, or a range of them, whose launcher reads arguments and environment in one way.
type Release string

// Releases in their order, in which they also compare.
const (
	// V22 is the launcher of fleet/launch.py.
	V22 Release = "Paddle 2.0 to 2.2"
	// V23 turns to that of V22 by an argument that it does not know, and fails where nodes are to meet by PADDLE_RANK: it keeps
	// the rank as text and compares it with a number.
	V23 Release = "Paddle 2.3"
	// V24 knows the arguments of V22 that are of use, and turns to that launcher only where it has no master.
	V24 Release = "Paddle 2.4"
	V25 Release = "Paddle 2.5"
	// V26 takes the node's rank from PADDLE_TRAINER_ID as well; PADDLE_RANK wins where both are set.
	V26    Release = "Paddle 2.6"
	V30    Release = "Paddle 3.0"
	Newest Release = "Paddle 3.1"
)

// Releases returns all that a job may be run with.
func Releases() []Release { return []Release{V22, V23, V24, V25, V26, V30, Newest} }

// parser is an ArgumentParser of which each option takes one value.
type parser struct {
	options []string
	// strict means parse_args, for which an unknown option is an error. parse_known_args leaves it out.
	strict bool
}

// fleetParser returns that of distributed/fleet/launch.py, which knows --gpus in Paddle for GPUs alone.
func fleetParser(release Release) parser {
	return parser{strict: release == V22, options: strings.Fields("log_dir backend nproc_per_node run_mode gpus selected_gpus xpus selected_xpus ips " +
		"servers workers heter_workers heter_devices worker_num server_num heter_worker_num http_port elastic_server job_id np scale host force")}
}

// launchParser returns that of distributed/launch/context/args_envs.py.
func launchParser(release Release) parser {
	p := parser{options: strings.Fields("master legacy rank log_level nnodes nproc_per_node log_dir run_mode job_id devices host " +
		"servers trainers trainer_num server_num gloo_port with_gloo max_restart elastic_level elastic_timeout")}
	if release >= V24 {
		p.options = append(p.options, "gpus", "npus", "xpus", "ips", "start_port")
	}
	return p
}

// find returns the option that a name is, or is the only beginning of; "" if there is none.
func (p parser) find(name string) string {
	if slices.Contains(p.options, name) {
		return name
	}
	found := slices.DeleteFunc(slices.Clone(p.options), func(option string) bool { return !strings.HasPrefix(option, name) })
	if len(found) != 1 {
		return ""
	}
	return found[0]
}

// arguments are what a parser found: options with their values, words that are no options, and the program.
type arguments struct {
	values  map[string]string
	unknown []string
	program string
}

// parse reads words up to the program. The value of an unknown option that stands behind a space is taken for it.
func (p parser) parse(words []string) (arguments, error) {
	values, program, unknown := map[string]string{}, "", []string{}
	for i := 0; i < len(words) && program == ""; i++ {
		option, ok := strings.CutPrefix(words[i], "--")
		if !ok {
			program = words[i]
			continue
		}
		name, value, joined := strings.Cut(option, "=")
		switch known := p.find(name); {
		case known == "":
			unknown = append(unknown, words[i])
		case joined:
			values[known] = value
		case i+1 == len(words) || strings.HasPrefix(words[i+1], "--"):
			return arguments{}, fmt.Errorf("exit code 2: argument --%s: expected one argument", name)
		default:
			i++
			values[known] = words[i]
		}
	}
	if p.strict && len(unknown) > 0 {
		return arguments{}, fmt.Errorf("exit code 2: unrecognized arguments: %s", strings.Join(unknown, " "))
	}
	return arguments{values, unknown, program}, nil
}

// run returns how the program ends.
func (a *arguments) run() error {
	if !strings.HasSuffix(a.program, ".py") && a.program != "run_check" {
		return fmt.Errorf("python: can't open file %q", a.program)
	}
	return nil
}

// variables are those of the launcher that beat arguments, by what they are called there (args_envs.py).
var variables = map[string]string{
	"POD_IP": "host", "PADDLE_MASTER": "master", "PADDLE_NNODES": "nnodes", "PADDLE_RUN_MODE": "run_mode", "PADDLE_RANK": "rank", "PADDLE_JOB_ID": "job_id",
	"PADDLE_SERVER_NUM": "server_num", "PADDLE_TRAINER_NUM": "trainer_num", "PADDLE_SERVERS_ENDPOINTS": "servers", "PADDLE_TRAINERS_ENDPOINTS": "trainers",
	"PADDLE_GLOO_PORT": "gloo_port", "PADDLE_WITH_GLOO": "with_gloo",
	"PADDLE_MAX_RESTART": "max_restart", "PADDLE_ELASTIC_LEVEL": "elastic_level", "PADDLE_ELASTIC_TIMEOUT": "elastic_timeout",
}

// launchArguments returns what the launcher takes for its arguments, and whether it leaves them to that of V22.
//
// Source: python/paddle/distributed/launch/, context/__init__.py (set_env_in_args, is_legacy_mode), plugins/__init__.py
// (collective_compatible, before either is asked for).
func launchArguments(env map[string]string, release Release, words []string) (args arguments, legacy bool, err error) {
	if args, err = launchParser(release).parse(words); err != nil {
		return args, false, err
	}
	if rank, ok := args.values["rank"]; ok {
		if _, err := strconv.Atoi(rank); err != nil {
			return args, false, fmt.Errorf("exit code 2: argument --rank: invalid int value: %q", rank)
		}
	}
	if _, ok := env["PADDLE_TRAINER_ID"]; ok && release >= V26 {
		id, err := integer(env, "PADDLE_TRAINER_ID")
		if err != nil {
			return args, false, err
		}
		if id >= 0 {
			args.values["rank"] = strconv.Itoa(id)
		}
	}
	for name, argument := range variables {
		if value, ok := env[name]; ok {
			args.values[argument] = value
		}
	}
	for _, name := range []string{"PADDLE_TRAINER_ENDPOINTS", "DISTRIBUTED_TRAINER_ENDPOINTS"} {
		if list, ok := env[name]; ok {
			args.values["master"], args.values["nnodes"] = nodesOf(strings.Split(list, ","))
		}
	}
	legacy = args.values["legacy"] != "" || len(args.unknown) > 0 && (release == V23 || args.values["master"] == "")
	for _, name := range []string{"DISTRIBUTED_TRAINER_ENDPOINTS", "PADDLE_ELASTIC_JOB_ID", "FLAGS_START_PORT"} {
		_, set := env[name]
		legacy = legacy || set && release == V23
	}
	return args, legacy, nil
}

// nodesOf returns the first endpoint, and the number of distinct hosts.
func nodesOf(endpoints []string) (master, nodes string) {
	hosts := map[string]bool{}
	for _, endpoint := range endpoints {
		host, _, _ := strings.Cut(endpoint, ":")
		hosts[host] = true
	}
	master = endpoints[0]
	if !strings.Contains(master, ":") {
		master += ":6768"
	}
	return master, strconv.Itoa(len(hosts))
}

// PortRange returns the ports in which the launcher looks for free ones, both ends included; false where it was given none.
//
// Source: python/paddle/distributed/launch/context/node.py reads PORT_RANGE.
func PortRange(env map[string]string) (low, high int, ok bool) {
	first, last, found := strings.Cut(env["PORT_RANGE"], ":")
	low, err := strconv.Atoi(first)
	high, err2 := strconv.Atoi(last)
	return low, high, found && err == nil && err2 == nil
}
