// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ElasticLauncher is what `python -m paddle.distributed.launch` concludes on one node of elastic training.
type ElasticLauncher struct {
	// Host is the node's own address, which the others are told.
	Host string
	// Etcd is where it looks for its etcd.
	Etcd string
	// Job is the key under which nodes find each other there.
	Job string
	// Least and Most bound the number of nodes.
	Least, Most int
	// RestartsItself says whether it starts its processes again when one of them, or another node, has gone.
	RestartsItself bool
	// Timeout is for how many seconds it waits for more nodes, MaxRestart how often it starts again.
	Timeout, MaxRestart int
}

// ElasticLaunch concludes what the launcher does with the variables of elastic training.
//
// Source: python/paddle/distributed/launch/, context/args_envs.py, plugins/__init__.py (collective_compatible, which comes
// before the controller is chosen), controllers/collective.py (CollectiveElasticController), controllers/master.py
// (ETCDMaster), controllers/controller.py (watch), job/job.py.
func ElasticLaunch(env map[string]string, ownIP string) (ElasticLauncher, error) {
	l := ElasticLauncher{Host: ownIP, Timeout: 30, MaxRestart: 3, Least: 1, Most: 1, Job: "default"}
	for _, name := range []string{"DISTRIBUTED_TRAINER_ENDPOINTS", "PADDLE_ELASTIC_JOB_ID", "PADDLE_DISTRI_BACKEND", "FLAGS_START_PORT"} {
		if _, ok := env[name]; ok {
			return l, fmt.Errorf("%s switches the launcher to its legacy mode", name)
		}
	}
	if _, ok := env["PADDLE_TRAINER_ENDPOINTS"]; ok {
		return l, errors.New("PADDLE_TRAINER_ENDPOINTS beats the etcd and the bounds")
	}
	master := env["PADDLE_MASTER"]
	if !strings.HasPrefix(master, "etcd://") {
		return l, fmt.Errorf("PADDLE_MASTER=%s does not switch to elastic training", master)
	}
	// Python's strip takes off characters, at both ends, not a prefix.
	l.Etcd = strings.Trim(master, "etcd:/")
	if _, _, err := SplitEndpoint(l.Etcd); err != nil {
		return l, fmt.Errorf("the etcd: %w", err)
	}
	if host := env["POD_IP"]; strings.Contains(host, ".") {
		l.Host = host
	}
	for _, name := range []string{"PADDLE_TRAINER_ID", "PADDLE_RANK"} {
		if rank, err := integer(env, name); err == nil && rank >= 0 {
			return l, fmt.Errorf("IndexError: %s=%d gives the node a rank, for which there is no place once a node has gone", name, rank)
		}
	}
	if id, ok := env["PADDLE_JOB_ID"]; ok {
		l.Job = id
	}
	return l, l.readNumbers(env)
}

func (l *ElasticLauncher) readNumbers(env map[string]string) error {
	nodes := env["PADDLE_NNODES"]
	least, most, ok := strings.Cut(nodes, ":")
	if !ok {
		return fmt.Errorf("PADDLE_NNODES=%s is no range, so the number of nodes is fixed", nodes)
	}
	var err, err2 error
	l.Least, err = strconv.Atoi(least)
	l.Most, err2 = strconv.Atoi(most)
	if err != nil || err2 != nil || l.Least < 1 || l.Most < l.Least {
		return fmt.Errorf("PADDLE_NNODES=%s is not a range of nodes", nodes)
	}
	level := -1
	for name, into := range map[string]*int{
		"PADDLE_ELASTIC_LEVEL": &level, "PADDLE_ELASTIC_TIMEOUT": &l.Timeout, "PADDLE_MAX_RESTART": &l.MaxRestart,
	} {
		if _, set := env[name]; !set {
			continue
		}
		if *into, err = integer(env, name); err != nil {
			return err
		}
	}
	l.RestartsItself = level > 0
	return nil
}
