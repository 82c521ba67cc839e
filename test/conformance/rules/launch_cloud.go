// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"fmt"
	"slices"
	"strings"
)

// CloudLauncher is what the launcher before Paddle 2.3 concludes on one node.
type CloudLauncher struct {
	// Hosts are the nodes in the order of their ranks.
	Hosts []string
	// Rank is the node's place among them.
	Rank int
	// FirstPort is where the ports of each node's processes begin.
	FirstPort int
}

// defaultPort is the launcher's own choice where it is given none.
const defaultPort = 6170

// CloudLaunch concludes what `python -m paddle.distributed.launch`, or fleetrun, of Paddle 2.0 to 2.2 does with one
// process per node in collective training. The images that paddle-operator's examples name are of that time.
//
// Source: python/paddle/distributed/fleet/cloud_utils.py (use_paddlecloud, get_cloud_cluster) and launch_utils.py
// (get_cluster). With servers it starts the program as `python train.py` does.
func CloudLaunch(env map[string]string) (CloudLauncher, error) {
	l := CloudLauncher{FirstPort: defaultPort}
	for _, name := range []string{"PADDLE_TRAINERS", "POD_IP", "PADDLE_TRAINER_ID", "TRAINER_PORTS_NUM"} {
		if _, ok := env[name]; !ok {
			return l, fmt.Errorf("%w: %s is not set", ErrNotDistributed, name)
		}
	}
	var err error
	if l.Rank, err = integer(env, "PADDLE_TRAINER_ID"); err != nil {
		return l, err
	}
	ports, err := integer(env, "TRAINER_PORTS_NUM")
	if err != nil {
		return l, err
	}
	l.Hosts = strings.Split(env["PADDLE_TRAINERS"], ",")
	if !slices.Contains(l.Hosts, env["POD_IP"]) {
		return l, fmt.Errorf("ValueError: POD_IP %s is not in PADDLE_TRAINERS=%s", env["POD_IP"], env["PADDLE_TRAINERS"])
	}
	if l.Rank < 0 || l.Rank >= len(l.Hosts) {
		return l, fmt.Errorf("IndexError: rank %d of %d nodes", l.Rank, len(l.Hosts))
	}
	// A port that is no number is not an error there.
	if port, err := integer(env, "PADDLE_PORT"); err == nil && len(l.Hosts) > 1 && ports >= 1 {
		l.FirstPort = port
	}
	return l, nil
}
