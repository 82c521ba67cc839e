// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Release is a range of Paddle versions whose launcher reads the environment in one way.
type Release string

// Releases of `python -m paddle.distributed.launch`, which is in Paddle since 2.3.
const (
	// First takes the node's rank from PADDLE_RANK alone, and fails where nodes are to meet by one: it keeps the rank as
	// text and compares it with a number. The launchers of 2022 did so until some time before October.
	First Release = "Paddle 2.3"
	// Until2023 takes the node's rank from PADDLE_RANK alone.
	Until2023 Release = "Paddle until mid-2023"
	// Since2023 takes it from PADDLE_TRAINER_ID as well; PADDLE_RANK wins where both are set.
	Since2023 Release = "Paddle since mid-2023"
)

// Releases are all that a job may be run with.
func Releases() []Release { return []Release{First, Until2023, Since2023} }

// ByArrival is the rank of a launcher that was given none: the master's node becomes 0, the others get what is left.
const ByArrival = -1

// Launcher is what `python -m paddle.distributed.launch`, without arguments of its own, concludes on one node.
type Launcher struct {
	// Host is the node's own address, which the other nodes are told.
	Host string
	// Nodes is the number of nodes that it waits for. With fewer than 2 it waits for nobody and needs no master.
	Nodes int
	// Rank is the node's rank, or ByArrival.
	Rank int
	// Master is the endpoint at which the nodes meet; empty where the node makes one up that nobody else knows.
	Master string
	// StartsMaster says whether this node listens there.
	StartsMaster bool
	// Servers and Trainers are the endpoints whose processes this node starts, in parameter-server training.
	Servers, Trainers []string
	// PS says that this is parameter-server training.
	PS bool
	// Gloo is where the first server is told to serve gloo's rendezvous, empty where gloo is off.
	Gloo string
}

// Launch concludes what the launcher does with the variables. ownIP is what the machine's own host name resolves to.
//
// Source: python/paddle/distributed/launch/, context/args_envs.py (variables beat arguments), plugins/__init__.py
// (collective_compatible, then rewrite_host_ip), controllers/collective.py, controllers/master.py
// (HTTPMaster.lazy_init), controllers/ps.py.
func Launch(env map[string]string, ownIP string, release Release) (Launcher, error) {
	l := Launcher{Host: ownIP, Nodes: 1, Rank: ByArrival, Master: env["PADDLE_MASTER"]}
	for _, name := range []string{"DISTRIBUTED_TRAINER_ENDPOINTS", "PADDLE_ELASTIC_JOB_ID", "PADDLE_DISTRI_BACKEND", "FLAGS_START_PORT"} {
		if _, ok := env[name]; ok {
			return l, fmt.Errorf("%s switches the launcher to its legacy mode", name)
		}
	}
	if err := l.readRank(env, release); err != nil {
		return l, err
	}
	if err := l.readNodes(env); err != nil {
		return l, err
	}
	// The launcher tells an address from a short name by its dot.
	if host := env["POD_IP"]; strings.Contains(host, ".") {
		l.Host = host
	}
	l.PS = env["PADDLE_RUN_MODE"] == "ps"
	for _, name := range []string{"PADDLE_SERVERS_ENDPOINTS", "PADDLE_TRAINERS_ENDPOINTS", "PADDLE_SERVER_NUM", "PADDLE_TRAINER_NUM"} {
		l.PS = l.PS || env[name] != ""
	}
	if l.PS {
		return l, l.readProcesses(env)
	}
	if strings.HasPrefix(l.Master, "etcd://") {
		return l, fmt.Errorf("PADDLE_MASTER=%s switches to elastic training (see ElasticLaunch)", l.Master)
	}
	if l.Nodes < 2 {
		return l, nil
	}
	if _, ok := env["PADDLE_RANK"]; ok && release == First {
		return l, errors.New("TypeError: PADDLE_RANK is set, and this release compares its text with a number when nodes meet")
	}
	if l.Master == "" {
		l.StartsMaster = true
		return l, nil
	}
	host, _, err := SplitEndpoint(l.Master)
	if err != nil {
		return l, fmt.Errorf("the master: %w", err)
	}
	l.StartsMaster = host == l.Host || host == "127.0.0.1"
	return l, nil
}

func (l *Launcher) readRank(env map[string]string, release Release) error {
	names := []string{"PADDLE_RANK"}
	if release == Since2023 {
		names = []string{"PADDLE_TRAINER_ID", "PADDLE_RANK"}
	}
	for _, name := range names {
		if _, ok := env[name]; !ok {
			continue
		}
		rank, err := integer(env, name)
		if err != nil {
			return err
		}
		if rank >= 0 || name == "PADDLE_RANK" {
			l.Rank = max(rank, ByArrival)
		}
	}
	return nil
}

func (l *Launcher) readNodes(env map[string]string) error {
	if list, ok := env["PADDLE_TRAINER_ENDPOINTS"]; ok {
		endpoints := strings.Split(list, ",")
		hosts := map[string]bool{}
		for _, endpoint := range endpoints {
			host, _, _ := strings.Cut(endpoint, ":")
			hosts[host] = true
		}
		l.Nodes, l.Master = len(hosts), endpoints[0]
		if !strings.Contains(l.Master, ":") {
			l.Master += ":6768"
		}
		return nil
	}
	if nodes := env["PADDLE_NNODES"]; nodes != "" {
		if strings.Contains(nodes, ":") {
			return fmt.Errorf("PADDLE_NNODES=%s is a range, for elastic training (see ElasticLaunch)", nodes)
		}
		number, err := integer(env, "PADDLE_NNODES")
		if err != nil {
			return err
		}
		l.Nodes = number
	}
	return nil
}

// readProcesses picks the processes of this node as the launcher does: by how their endpoints begin.
func (l *Launcher) readProcesses(env map[string]string) error {
	servers, trainers := env["PADDLE_SERVERS_ENDPOINTS"], env["PADDLE_TRAINERS_ENDPOINTS"]
	if servers == "" || trainers == "" {
		return errors.New("the launcher makes up its own servers and trainers: PADDLE_SERVERS_ENDPOINTS and PADDLE_TRAINERS_ENDPOINTS are not both set")
	}
	host := l.Host
	if strings.Contains(servers, "127.0.0.1") {
		host = "127.0.0.1"
	}
	own := func(list string) (picked []string) {
		for _, endpoint := range strings.Split(list, ",") {
			if strings.HasPrefix(endpoint, host) {
				picked = append(picked, endpoint)
			}
		}
		return picked
	}
	l.Servers, l.Trainers = own(servers), own(trainers)
	for _, endpoint := range slices.Concat(l.Servers, l.Trainers) {
		if !strings.Contains(endpoint, ":") {
			return fmt.Errorf("IndexError: the launcher reads the port of %s, which has none", endpoint)
		}
	}
	// It hands on PADDLE_WITH_GLOO, or its own default, 1.
	if level, ok := env["PADDLE_WITH_GLOO"]; !ok || level == "1" || level == "2" {
		port := env["PADDLE_GLOO_PORT"]
		if port == "" {
			port = "6767"
		}
		first, _, _ := strings.Cut(servers, ":")
		l.Gloo = first + ":" + port
	}
	return nil
}
