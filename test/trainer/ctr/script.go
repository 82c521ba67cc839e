// SPDX-License-Identifier: Apache-2.0

package ctr

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/paddle-volcano/paddle-volcano/test/conformance/rules"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/process"
)

// maxFailed is how many trainers may have failed when another starts.
const maxFailed = 1

// Start is `paddle_k8s start_fluid`: it waits for the job's pods, tells the program what it has found, and runs the
// command line of ENTRY in a shell.
func Start(ctx context.Context, p *process.Process, account string, shell func(ctx context.Context, child *process.Process, line string) error) error {
	api, err := newAPI(p.Env, account)
	if err != nil {
		return err
	}
	defer api.client.CloseIdleConnections()
	job, entry := p.Env["PADDLE_JOB_NAME"], p.Env["ENTRY"]
	if job == "" || entry == "" {
		return fmt.Errorf("PADDLE_JOB_NAME=%q and ENTRY=%q must be set", job, entry)
	}
	servers, trainers := "paddle-job-pserver="+job, "paddle-job="+job
	p.Say("+ pserver_label=%s\n+ trainer_label=%s", servers, trainers)
	var role rules.PSRole
	var ips []string
	failed, last := 0, ""
	err = p.Net.Await(ctx, "the pods of "+job, func(ctx context.Context) (err error) {
		var running []rules.CTRPod
		ips, failed = nil, 0
		for _, selector := range []string{servers, trainers} {
			pods, err := api.pods(ctx, p.Env["NAMESPACE"], selector)
			if err != nil {
				return err
			}
			for _, pod := range pods.Items {
				switch {
				case pod.Status.Phase == "Running":
					running = append(running, rules.CTRPod{Labels: pod.Metadata.Labels, IP: pod.Status.PodIP})
					if selector == trainers {
						ips = append(ips, pod.Status.PodIP)
					}
				case pod.Status.Phase == "Failed" && selector == trainers:
					failed++
				}
			}
		}
		if role, err = rules.CTRScript(p.Env, process.OwnIP(p.Env), running); err != nil && err.Error() != last {
			last = err.Error()
			p.Say("%s ...", last)
		}
		return err
	})
	if err != nil {
		return err
	}
	if role.Role == rules.Trainer && failed > maxFailed {
		return fmt.Errorf("%d trainers have failed, and at most %d may", failed, maxFailed)
	}
	more := map[string]string{
		"PADDLE_PSERVERS":    strings.Join(role.Servers, ","),
		"PADDLE_TRAINER_IPS": strings.Join(ips, ","),
		"PADDLE_TRAINER_ID":  strconv.Itoa(role.Index),
		"PADDLE_PSERVER_ID":  strconv.Itoa(role.Index),
	}
	p.Say("+ PADDLE_PSERVERS=%s\n+ PADDLE_TRAINER_IPS=%s\n+ PADDLE_TRAINER_ID=%d\n+ sh -c %q", more["PADDLE_PSERVERS"], more["PADDLE_TRAINER_IPS"], role.Index, entry)
	return shell(ctx, p.Child(more), entry)
}

// Role is what the example's train.py concludes with --cloud_train 1 from the variables that the script has set.
func Role(env map[string]string) (rules.PSRole, error) {
	role := rules.PSRole{Role: env["TRAINING_ROLE"]}
	if role.Role != rules.Server && role.Role != rules.Trainer {
		return role, fmt.Errorf("wrong role: TRAINING_ROLE is %q", role.Role)
	}
	if env["PADDLE_PSERVERS"] == "" {
		return role, errors.New("PADDLE_PSERVERS is not set: paddle_k8s sets it")
	}
	role.Servers = strings.Split(env["PADDLE_PSERVERS"], ",")
	var err, err2 error
	role.Workers, err = strconv.Atoi(env["PADDLE_TRAINERS_NUM"])
	role.Index, err2 = strconv.Atoi(env["PADDLE_TRAINER_ID"])
	if err = errors.Join(err, err2); err != nil {
		return role, fmt.Errorf("PADDLE_TRAINERS_NUM and PADDLE_TRAINER_ID must be numbers: %w", err)
	}
	role.Endpoint = env["POD_IP"] + ":" + env["PADDLE_PORT"]
	if role.Role == rules.Server {
		if role.Index < 0 || role.Index >= len(role.Servers) {
			return role, fmt.Errorf("wrong rank: server %d of %d", role.Index, len(role.Servers))
		}
		role.Endpoint = role.Servers[role.Index]
	}
	return role, nil
}
