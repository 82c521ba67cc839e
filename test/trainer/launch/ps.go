// SPDX-License-Identifier: Apache-2.0

package launch

import (
	"slices"
	"strconv"
	"strings"

	"github.com/paddle-volcano/paddle-volcano/test/conformance/rules"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/process"
)

// processes are the variables of each server and trainer that the launcher starts on its node.
func processes(p *process.Process, launcher *rules.Launcher) (all []map[string]string) {
	trainers := strings.Split(p.Env["PADDLE_TRAINERS_ENDPOINTS"], ",")
	base := map[string]string{
		"PADDLE_PSERVERS_IP_PORT_LIST": p.Env["PADDLE_SERVERS_ENDPOINTS"],
		"PADDLE_TRAINER_ENDPOINTS":     p.Env["PADDLE_TRAINERS_ENDPOINTS"],
		"PADDLE_TRAINERS_NUM":          strconv.Itoa(len(trainers)),
		"PADDLE_WITH_GLOO":             "0",
	}
	if launcher.Gloo != "" {
		level := p.Env["PADDLE_WITH_GLOO"]
		if level == "" {
			level = "1" // the launcher's own default
		}
		base["PADDLE_WITH_GLOO"], base["PADDLE_GLOO_RENDEZVOUS"], base["PADDLE_GLOO_HTTP_ENDPOINT"] = level, "3", launcher.Gloo
	}
	for _, role := range []struct {
		name      string
		endpoints []string
	}{{rules.Server, launcher.Servers}, {rules.Trainer, launcher.Trainers}} {
		for _, endpoint := range role.endpoints {
			host, port, _ := strings.Cut(endpoint, ":")
			own := map[string]string{"TRAINING_ROLE": role.name, "POD_IP": host, "PADDLE_PORT": port}
			if role.name == rules.Trainer {
				own["PADDLE_TRAINER_ID"] = strconv.Itoa(slices.Index(trainers, endpoint))
			}
			for name, value := range base {
				own[name] = value
			}
			all = append(all, own)
		}
	}
	return all
}
