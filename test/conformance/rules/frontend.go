// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"fmt"
	"maps"
	"net"
	"strings"
)

// FrontEnd is how a front end of Paddle's, `paddleformers-cli train` or `erniekit train`, starts the launcher on one node.
type FrontEnd struct {
	// Distributed reports whether it starts the launcher for several nodes.
	Distributed bool
	// Env is the launcher's environment: what it reads from it beats arguments.
	Env map[string]string
}

// StartFrontEnd concludes what a front end does with the variables. It deletes what tells the launcher of other nodes, and
// starts it with --master and --nnodes, and with --rank if it reads RANK, which the newer ones do.
//
// The arguments stand in Env under the names of the variables that say the same, unless those are set: variables beat
// arguments (distributed/launch/context, args_envs.py).
func StartFrontEnd(env map[string]string, readsRank bool) (FrontEnd, error) {
	env = maps.Clone(env)
	maps.DeleteFunc(env, func(name, _ string) bool { return strings.HasPrefix(name, "PADDLE_TRAINER") })
	nodes := 1
	if _, ok := env["NNODES"]; ok {
		var err error
		if nodes, err = integer(env, "NNODES"); err != nil {
			return FrontEnd{}, err
		}
	}
	if nodes < 2 {
		return FrontEnd{Env: env}, nil
	}
	for _, name := range []string{"MASTER_ADDR", "MASTER_PORT"} {
		if env[name] == "" {
			return FrontEnd{}, fmt.Errorf("%s is not set, and NNODES is %d", name, nodes)
		}
	}
	argument := func(variable, value string) {
		if _, ok := env[variable]; !ok {
			env[variable] = value
		}
	}
	argument("PADDLE_MASTER", net.JoinHostPort(env["MASTER_ADDR"], env["MASTER_PORT"]))
	argument("PADDLE_NNODES", env["NNODES"])
	if readsRank {
		if _, err := integer(env, "RANK"); err != nil {
			return FrontEnd{}, err
		}
		argument("PADDLE_RANK", env["RANK"])
	}
	return FrontEnd{Distributed: true, Env: env}, nil
}
