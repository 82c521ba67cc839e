// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// ByArrival is the rank of a launcher that was given none: the master's node becomes 0, the others get what is left.
const ByArrival = -1

// Launcher is what `python -m paddle.distributed.launch`, or fleetrun, concludes on one node.
type Launcher struct {
	// Host is the node's own address, which the launcher sends to the other nodes.
	Host string
	// Nodes is the number of nodes that it waits for. With fewer than 2 it does not wait and needs no master.
	Nodes int
	// Rank is the node's rank, or ByArrival.
	Rank int
	// Master is the endpoint at which the nodes meet; empty where the node chooses one that the other nodes do not know.
	Master string
	// StartsMaster reports whether this node listens there.
	StartsMaster bool
	// Servers and Trainers are the endpoints whose processes this node starts, in parameter-server training.
	Servers, Trainers []string
	// PS reports that this is parameter-server training.
	PS bool
	// Gloo is the address at which the first server is to serve gloo's rendezvous, empty where gloo is off.
	Gloo string
	// Direct reports that it starts the program once, with the variables as they are, as V22 does with servers.
	Direct bool
	// Hosts are the nodes in the order of their ranks, and FirstPort is where the ports of each begin. Only the launcher of V22
	// has them, whose nodes do not meet.
	Hosts     []string
	FirstPort int
}

// Launch concludes what the launcher does with the variables and the words behind its name, train.py if there are none. ownIP
// is what the machine's own host name resolves to.
//
// Source: python/paddle/distributed/launch/, plugins/__init__.py (rewrite_host_ip), controllers/collective.py,
// controllers/master.py (HTTPMaster.lazy_init), controllers/ps.py.
func Launch(env map[string]string, ownIP string, release Release, words ...string) (Launcher, error) {
	l := Launcher{Host: ownIP, Nodes: 1, Rank: ByArrival}
	if len(words) == 0 {
		words = []string{"train.py"}
	}
	if release == V22 {
		return l, l.readCloud(env, release, words)
	}
	args, legacy, err := launchArguments(env, release, words)
	if err != nil {
		return l, err
	}
	if legacy {
		return l, l.readCloud(env, release, words)
	}
	if err := args.run(); err != nil {
		return l, err
	}
	return l, l.read(env, args.values, release)
}

func (l *Launcher) read(env, args map[string]string, release Release) (err error) {
	if _, ok := args["rank"]; ok {
		if l.Rank, err = integer(args, "rank"); err != nil {
			return err
		}
		l.Rank = max(l.Rank, ByArrival)
	}
	if strings.Contains(args["nnodes"], ":") {
		return fmt.Errorf("PADDLE_NNODES=%s is a range, for elastic training (see ElasticLaunch)", args["nnodes"])
	}
	if _, ok := args["nnodes"]; ok {
		if l.Nodes, err = integer(args, "nnodes"); err != nil {
			return err
		}
	}
	// To the launcher a name with a dot is an address, and one without is a short name.
	if strings.Contains(args["host"], ".") {
		l.Host = args["host"]
	}
	l.Master, l.PS = args["master"], args["run_mode"] == "ps"
	for _, name := range []string{"servers", "trainers", "server_num", "trainer_num"} {
		l.PS = l.PS || args[name] != ""
	}
	if l.PS {
		return l.readProcesses(args, release)
	}
	if strings.HasPrefix(l.Master, "etcd://") {
		return fmt.Errorf("PADDLE_MASTER=%s switches to elastic training (see ElasticLaunch)", l.Master)
	}
	if l.Nodes < 2 {
		return nil
	}
	if _, ok := env["PADDLE_RANK"]; ok && release == V23 {
		return errors.New("TypeError: PADDLE_RANK is set, and this release compares its text with a number when nodes meet")
	}
	if l.Master == "" {
		l.StartsMaster = true
		return nil
	}
	host, _, err := SplitEndpoint(l.Master)
	if err != nil {
		return fmt.Errorf("the master: %w", err)
	}
	l.StartsMaster = host == l.Host || host == "127.0.0.1"
	return nil
}

// readProcesses picks the processes of this node as the launcher does: by how their endpoints begin.
func (l *Launcher) readProcesses(args map[string]string, release Release) error {
	servers, trainers := args["servers"], args["trainers"]
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
	// It hands on PADDLE_WITH_GLOO, or its own default.
	level, ok := args["with_gloo"]
	if !ok && release >= V24 {
		level = "1"
	}
	if level == "1" || level == "2" {
		port := args["gloo_port"]
		if port == "" {
			port = "6767"
		}
		first, _, _ := strings.Cut(servers, ":")
		l.Gloo = first + ":" + port
	}
	return nil
}

// defaultPort is the choice of V22's launcher where it is given none.
const defaultPort = 6170

// readCloud concludes what the launcher of V22 does with one process per node. The images that paddle-operator's examples name
// are of that time, and later releases hold it too.
//
// Source: python/paddle/distributed/fleet/, launch.py (which_distributed_mode, launch_ps), cloud_utils.py (use_paddlecloud,
// get_cloud_cluster), launch_utils.py (get_cluster, direct_start).
func (l *Launcher) readCloud(env map[string]string, release Release, words []string) error {
	args, err := fleetParser(release).parse(words)
	if err == nil {
		err = args.run()
	}
	if err != nil {
		return err
	}
	for _, name := range []string{"PADDLE_TRAINERS", "POD_IP", "PADDLE_TRAINER_ID", "TRAINER_PORTS_NUM"} {
		if _, ok := env[name]; !ok {
			return fmt.Errorf("%w: %s is not set", ErrNotDistributed, name)
		}
	}
	given := func(names ...string) bool {
		return slices.ContainsFunc(names, func(name string) bool { _, ok := args.values[name]; return ok })
	}
	if given("heter_worker_num", "heter_workers", "heter_devices") {
		return errors.New("the launcher starts the processes of --servers, --workers and --heter_workers that are at its own address, and ignores the variables")
	}
	if given("worker_num", "server_num", "servers", "workers", "http_port") || args.values["run_mode"] == "ps" {
		// The lists are not read.
		l.PS, l.Direct = true, true
		return nil
	}
	return l.readHosts(env)
}

func (l *Launcher) readHosts(env map[string]string) (err error) {
	if count := env["PADDLE_TRAINERS_NUM"]; count == "" || count == "1" {
		return fmt.Errorf("%w: PADDLE_TRAINERS_NUM is %q", ErrNotDistributed, count)
	}
	if l.Rank, err = integer(env, "PADDLE_TRAINER_ID"); err != nil {
		return err
	}
	ports, err := integer(env, "TRAINER_PORTS_NUM")
	if err != nil {
		return err
	}
	l.Hosts, l.FirstPort = strings.Split(env["PADDLE_TRAINERS"], ","), defaultPort
	l.Nodes = len(l.Hosts)
	if !slices.Contains(l.Hosts, env["POD_IP"]) {
		return fmt.Errorf("ValueError: POD_IP %s is not in PADDLE_TRAINERS=%s", env["POD_IP"], env["PADDLE_TRAINERS"])
	}
	if l.Rank < 0 || l.Rank >= l.Nodes {
		return fmt.Errorf("IndexError: rank %d of %d nodes", l.Rank, l.Nodes)
	}
	if list, ok := env["DISTRIBUTED_TRAINER_ENDPOINTS"]; ok && len(strings.Split(list, ",")) != l.Nodes*ports {
		return fmt.Errorf("AssertionError: DISTRIBUTED_TRAINER_ENDPOINTS=%s has not %d ports for each of %d nodes", list, ports, l.Nodes)
	}
	// A port that is no number is not an error there.
	if port, err := integer(env, "PADDLE_PORT"); err == nil && l.Nodes > 1 && ports >= 1 {
		l.FirstPort = port
	}
	return nil
}

// ElasticLauncher is what `python -m paddle.distributed.launch` concludes on one node of elastic training.
type ElasticLauncher struct {
	// Host is the node's own address, which the launcher sends to the other nodes.
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

// ElasticLaunch concludes what the launcher does with the variables of elastic training, and the words behind its name.
//
// Source: python/paddle/distributed/launch/, context/args_envs.py, plugins/__init__.py (collective_compatible, which comes
// before the controller is chosen), controllers/collective.py (CollectiveElasticController), controllers/master.py
// (ETCDMaster), controllers/controller.py (watch), job/job.py.
func ElasticLaunch(env map[string]string, ownIP string, release Release, words ...string) (ElasticLauncher, error) {
	l := ElasticLauncher{Host: ownIP, Timeout: 30, MaxRestart: 3, Least: 1, Most: 1, Job: "default"}
	for _, name := range []string{"PADDLE_TRAINER_ENDPOINTS", "DISTRIBUTED_TRAINER_ENDPOINTS"} {
		if _, ok := env[name]; ok {
			return l, fmt.Errorf("%s beats the etcd and the bounds", name)
		}
	}
	if _, ok := env["PADDLE_ELASTIC_LEVEL"]; ok && release < V26 {
		return l, errors.New("TypeError: PADDLE_ELASTIC_LEVEL is set, and this release compares its text with a number when a process has failed")
	}
	found, _, err := launchArguments(env, release, words)
	if err != nil {
		return l, err
	}
	args := found.values
	if !strings.HasPrefix(args["master"], "etcd://") {
		return l, fmt.Errorf("PADDLE_MASTER=%s does not switch to elastic training", args["master"])
	}
	// Python's strip takes off characters, at both ends, not a prefix.
	l.Etcd = strings.Trim(args["master"], "etcd:/")
	if _, _, err := SplitEndpoint(l.Etcd); err != nil {
		return l, fmt.Errorf("the etcd: %w", err)
	}
	if strings.Contains(args["host"], ".") {
		l.Host = args["host"]
	}
	if rank, err := integer(args, "rank"); err == nil && rank >= 0 {
		return l, fmt.Errorf("IndexError: the node has rank %d, for which there is no place once a node has gone", rank)
	}
	if id, ok := args["job_id"]; ok {
		l.Job = id
	}
	return l, l.readNumbers(args)
}

func (l *ElasticLauncher) readNumbers(args map[string]string) error {
	least, most, ok := strings.Cut(args["nnodes"], ":")
	if !ok {
		return fmt.Errorf("PADDLE_NNODES=%s is no range, so the number of nodes is fixed", args["nnodes"])
	}
	var err, err2 error
	l.Least, err = strconv.Atoi(least)
	l.Most, err2 = strconv.Atoi(most)
	if err != nil || err2 != nil || l.Least < 1 || l.Most < l.Least {
		return fmt.Errorf("PADDLE_NNODES=%s is not a range of nodes", args["nnodes"])
	}
	level := -1
	for name, into := range map[string]*int{"elastic_level": &level, "elastic_timeout": &l.Timeout, "max_restart": &l.MaxRestart} {
		if _, set := args[name]; !set {
			continue
		}
		if *into, err = integer(args, name); err != nil {
			return err
		}
	}
	l.RestartsItself = level > 0
	return nil
}
