// SPDX-License-Identifier: Apache-2.0

package render

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
)

// launchServers are the variables for `python -m paddle.distributed.launch` in PS mode; nothing else reads them, so that
// `python train.py` is not touched.
//
// With both lists the launcher starts parameter-server training, and in each pod the processes whose endpoints begin with
// POD_IP: each pod starts itself. Without them it would train collectively, servers included. It switches gloo on unless
// it is told not to, and serves the rendezvous at a port of its own choice, PADDLE_GLOO_PORT, on the first server's host.
// Source: distributed/launch/controllers/ps.py and context/args_envs.py.
func launchServers(job *v1.PaddleJob, servers, trainers string, gloo int) map[string]string {
	data := map[string]string{
		"PADDLE_SERVERS_ENDPOINTS":  servers,
		"PADDLE_TRAINERS_ENDPOINTS": trainers,
		"PADDLE_GLOO_PORT":          strconv.Itoa(gloo),
	}
	if with := job.Spec.WithGloo; with != nil && *with <= 0 {
		data["PADDLE_WITH_GLOO"] = "0"
	}
	return data
}

// frontEndContract has the variables of collective jobs that Paddle's command lines read, paddleformers-cli and erniekit:
// they delete PADDLE_TRAINER* and start the launcher with these and, in newer releases, with envRank. Without them each
// pod trains alone. The master listens at the last port of the first worker's block, because the launcher of 2.3 and 2.4
// uses the first itself and would find the address in use.
// Source: paddleformers/cli/cli.py of PaddleFormers.
func frontEndContract(job *v1.PaddleJob, addresses Addresses, at layout) map[string]string {
	data := map[string]string{
		"NNODES":      strconv.Itoa(job.Spec.Worker.Replicas),
		"MASTER_ADDR": "",
		"MASTER_PORT": strconv.Itoa(at.of(RoleWorker, 0) + ports - 1),
	}
	if hosts := addresses[RoleWorker]; len(hosts) > 0 {
		data["MASTER_ADDR"] = hosts[0]
	}
	return data
}

// AddressPrefix returns two of the pods' hosts of which the first is a prefix of the second, as 10.0.0.1 of 10.0.0.12; both
// are "" if there are none. The launcher of the first would start the second's processes too, each rank would run twice,
// and every pod would succeed. So the launcher of such a gang is given hosts without ports, on which all its releases fail.
func AddressPrefix(addresses Addresses) (prefix, address string) {
	var hosts []string
	for _, role := range slices.Sorted(maps.Keys(addresses)) {
		hosts = append(hosts, addresses[role]...)
	}
	slices.Sort(hosts)
	hosts = slices.Compact(hosts)
	// Whatever begins with a host follows it in this order, and so does whatever lies between.
	for i := range len(hosts) - 1 {
		if strings.HasPrefix(hosts[i+1], hosts[i]) {
			return hosts[i], hosts[i+1]
		}
	}
	return "", ""
}
