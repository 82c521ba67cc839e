// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// FrontEnd is a version of a command line that starts the launcher.
type FrontEnd struct {
	// Paddle is the first release that it works with.
	Paddle Release
	// deletes are the variables that it takes out of the launcher's environment.
	deletes []string
	// rank reports that it gives the launcher --rank, from RANK.
	rank bool
	// devices is what it trains on where CUDA_VISIBLE_DEVICES is not set and there are no GPUs.
	devices string
}

var (
	six = strings.Fields("PADDLE_TRAINERS_NUM PADDLE_ELASTIC_JOB_ID PADDLE_TRAINER_ENDPOINTS DISTRIBUTED_TRAINER_ENDPOINTS FLAGS_START_PORT PADDLE_ELASTIC_TIMEOUT")
	ten = append(strings.Fields("PADDLE_TRAINER_ID PADDLE_WORKERS_IP_PORT_LIST PADDLE_TRAINERS PADDLE_NUM_GRADIENT_SERVERS"), six...)
)

// FrontEnds are the versions by name and date, or name and version.
//
// Source: paddleformers/cli/cli.py of PaddleFormers (RANK since a79ed64), erniekit/cli.py of ERNIE (v1.0 is fec4aa6, the later
// one 0df0a9b).
var FrontEnds = map[string]FrontEnd{
	"paddleformers-cli 2025-10-15": {Paddle: V26, deletes: ten},
	"paddleformers-cli 2026-01-28": {Paddle: V26, deletes: ten, rank: true},
	"erniekit before 1.0":          {Paddle: Newest, devices: "0"},
	"erniekit 1.0":                 {Paddle: Newest, deletes: six},
	"erniekit after 1.0":           {Paddle: Newest, deletes: ten},
}

// arguments returns what it starts the launcher with.
func (f FrontEnd) arguments(env map[string]string) (words []string) {
	words = append(words, "--gpus")
	if devices := cmp.Or(env["CUDA_VISIBLE_DEVICES"], f.devices); devices != "" {
		words = append(words, devices)
	}
	words = append(words, "--master", cmp.Or(env["MASTER_ADDR"], "127.0.0.1")+":"+cmp.Or(env["MASTER_PORT"], "8080"), "--nnodes", cmp.Or(env["NNODES"], "1"))
	if f.rank {
		words = append(words, "--rank", cmp.Or(env["RANK"], "0"))
	}
	maps.DeleteFunc(env, func(name, _ string) bool { return slices.Contains(f.deletes, name) })
	return append(words, "launcher.py")
}

// Command is how a pod's command comes to the launcher, or does without.
type Command struct {
	// Env is the environment of the launcher, and Arguments are the words behind its name.
	Env       map[string]string
	Arguments []string
	// Direct reports that python starts the program itself.
	Direct bool
	// Place is the node's number where the program counts nodes by itself, else -1.
	Place int
}

var assignment = regexp.MustCompile(`^([A-Z_a-z]\w*)=(.*)$`)

// ReadCommand follows a shell's text, commands with && between them, to the last one. unset takes patterns too. frontEnd names
// one of FrontEnds, for a command of one.
func ReadCommand(text string, env map[string]string, ownIP, frontEnd string) (Command, error) {
	c := Command{Env: maps.Clone(env), Place: -1}
	var words []string
	for one := range strings.SplitSeq(strings.NewReplacer(`"`, "", `'`, "").Replace(text), "&&") {
		words = strings.Fields(os.Expand(one, func(name string) string {
			name, otherwise, _ := strings.Cut(name, ":-")
			return cmp.Or(c.Env[name], otherwise)
		}))
		if words[0] == "unset" {
			maps.DeleteFunc(c.Env, func(name, _ string) bool {
				return slices.ContainsFunc(words, func(pattern string) bool { matched, _ := path.Match(pattern, name); return matched })
			})
		}
		for len(words) > 0 && (words[0] == "export" || assignment.MatchString(words[0])) {
			if pair := assignment.FindStringSubmatch(words[0]); pair != nil {
				c.Env[pair[1]] = pair[2]
			}
			words = words[1:]
		}
	}
	return c, c.start(words, ownIP, frontEnd)
}

// start concludes what the program does that the words name.
func (c *Command) start(words []string, ownIP, frontEnd string) error {
	line, program := strings.Join(words, " "), path.Base(words[0])
	list := func(option string) string {
		_, value, _ := strings.Cut(line, option)
		return strings.Fields(strings.TrimLeft(value, "= "))[0]
	}
	_, arguments, launcher := strings.Cut(line, " -m paddle.distributed.launch ")
	switch {
	case launcher:
		c.Arguments = strings.Fields(arguments)
	case program == "fleetrun":
		c.Arguments = words[1:]
	case program == "paddleformers-cli", program == "erniekit":
		c.Arguments = FrontEnds[frontEnd].arguments(c.Env)
	case strings.Contains(line, " Train.dist_ips"): // PaddleX
		c.Arguments = []string{"--ips", list(" Train.dist_ips"), "train.py"}
	case strings.Contains(line, " -m fastdeploy."): // FastDeploy, config.py and engine.py
		hosts := strings.Split(list(" --ips"), ",")
		if c.Place = slices.Index(hosts, ownIP); c.Place < 0 {
			return fmt.Errorf("FastDeploy: %s is not in --ips %s", ownIP, strings.Join(hosts, ","))
		}
		c.Arguments = []string{"--ips", strings.Join(hosts, ","), "--nnodes", strconv.Itoa(len(hosts)), "worker_process.py"}
	case strings.HasPrefix(program, "python"):
		c.Direct = true
	default:
		return errors.New(program + " reads other variables")
	}
	return nil
}
