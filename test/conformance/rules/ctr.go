// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"fmt"
	"slices"
)

// CTRPod is what the start script of the 2019 CTR example sees of a pod when it lists those with a label.
type CTRPod struct {
	Labels map[string]string
	IP     string
}

// CTRScript returns the role that the start script passes to its training program in the pod with the given IP. The script lists the
// running pods of the job by their labels, sorts their IPs as text, and uses its position as its index.
//
// Source: the example's image runs paddle_k8s and k8s_tools.py; the log in the English article of the seeds shows each
// of their steps, and PaddleRec's tools/k8s_tools.py is a later copy of them.
func CTRScript(env map[string]string, ownIP string, pods []CTRPod) (PSRole, error) {
	var role PSRole
	if _, err := text(env, "NAMESPACE"); err != nil {
		return role, fmt.Errorf("cannot list pods: %w", err)
	}
	job, err := text(env, "PADDLE_JOB_NAME")
	if err != nil {
		return role, err
	}
	if role.Role, err = text(env, "PADDLE_TRAINING_ROLE"); err != nil {
		return role, err
	}
	ips := func(label string) []string {
		var found []string
		for _, pod := range pods {
			if pod.Labels[label] == job {
				found = append(found, pod.IP)
			}
		}
		slices.Sort(found)
		return found
	}
	servers, trainers := ips("paddle-job-pserver"), ips("paddle-job")
	if role.Workers, err = integer(env, "PADDLE_TRAINERS_NUM"); err != nil {
		return role, err
	}
	wanted, err := integer(env, "PADDLE_PSERVERS_NUM")
	if err != nil {
		return role, err
	}
	if len(servers) < wanted {
		return role, fmt.Errorf("waits for PADDLE_PSERVERS_NUM=%d pods, of which only %d run with the label for %s", wanted, len(servers), job)
	}
	// The ports of the servers count up from the one that is given, also of servers at different addresses.
	first, err := integer(env, "PADDLE_PORT")
	if err != nil {
		return role, err
	}
	for i, ip := range servers {
		role.Servers = append(role.Servers, fmt.Sprintf("%s:%d", ip, first+i))
	}
	own := servers
	if role.Role != Server {
		// Servers do not wait for trainers.
		if own = trainers; len(trainers) < role.Workers {
			return role, fmt.Errorf("waits for PADDLE_TRAINERS_NUM=%d pods, of which only %d run with the label for %s", role.Workers, len(trainers), job)
		}
	}
	if role.Index = slices.Index(own, ownIP); role.Index < 0 {
		return role, fmt.Errorf("its IP %s is not among those of the job's pods with role %s: %v", ownIP, role.Role, own)
	}
	role.Endpoint = ownIP + ":" + env["PADDLE_PORT"]
	if role.Role == Server {
		role.Endpoint = role.Servers[role.Index]
	}
	return role, nil
}
