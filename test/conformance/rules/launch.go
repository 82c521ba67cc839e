// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
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
	// StartsMaster reports whether this node listens there.
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
	// RestartsItself reports whether it starts its processes again when one of them, or another node, has gone.
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
