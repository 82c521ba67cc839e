// SPDX-License-Identifier: Apache-2.0

package trainer

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/test/conformance/rules"
)

func TestServersTrain(t *testing.T) {
	for _, test := range []struct {
		servers, trainers, gloo int
		names                   bool
	}{{1, 1, 0, false}, {2, 2, 1, false}, {2, 3, 2, true}, {3, 2, 0, true}, {1, 4, 1, true}} {
		t.Run(fmt.Sprintf("%d-%d-%d-%v", test.servers, test.trainers, test.gloo, test.names), func(t *testing.T) {
			g := psGang(t, test.servers, test.trainers, test.gloo, test.names)
			all := g.run(t)
			g.requireTrained(t, test.trainers, all)
			met := strings.Contains(all["worker-0"].log, fmt.Sprintf("gloo: %d trainers have met", test.trainers))
			require.Equal(t, test.gloo > 0, met)
			met = strings.Contains(all["ps-0"].log, fmt.Sprintf("gloo: %d trainers and %d servers have met", test.trainers, test.servers))
			require.Equal(t, test.gloo > 1, met)
		})
	}
}

func TestServersEndOnSIGTERM(t *testing.T) {
	g := psGang(t, 2, 2, 1, false).set("TRAINER_SERVERS_EXIT", "true")
	all := g.runUntil(t, func(*pod) bool { return true }, func(end ended) bool { return end.code != 0 })
	g.requireTrained(t, 2, all)
	for _, server := range []string{"ps-0", "ps-1"} {
		require.Contains(t, all[server].log, "all 2 trainers are done")
		require.Zero(t, all[server].code)
	}
}

func TestServersTrainThroughTheLauncher(t *testing.T) {
	for _, names := range []bool{false, true} {
		g := psGang(t, 2, 2, 0, names)
		g.set("PADDLE_SERVERS_ENDPOINTS", g.pods[0].env["PADDLE_PSERVERS_IP_PORT_LIST"])
		g.set("PADDLE_TRAINERS_ENDPOINTS", g.pods[0].env["PADDLE_TRAINER_ENDPOINTS"])
		g.set("PADDLE_GLOO_PORT", "36018")
		for _, p := range g.pods {
			p.line = []string{"python", "-m", "paddle.distributed.launch", "train.py"}
			for _, name := range []string{"TRAINING_ROLE", "PADDLE_TRAINER_ID", "PADDLE_PSERVERS_IP_PORT_LIST", "PADDLE_TRAINERS_NUM", "PADDLE_PORT", "PADDLE_TRAINER_ENDPOINTS"} {
				delete(p.env, name)
			}
		}
		all := g.run(t)
		g.requireTrained(t, 2, all)
		require.Contains(t, all["worker-1"].log, "gloo: 2 trainers have met", "the launcher's default")
	}
}

// One launcher starts all processes that are at its address.
func TestOneLauncherStartsAllOfItsHost(t *testing.T) {
	g := newGang(t)
	p := g.add("worker-0", "python", "-m", "paddle.distributed.launch", "train.py", "--servers-exit")
	p.env["POD_IP"], p.env["PADDLE_WITH_GLOO"] = p.ip, "0"
	p.env["PADDLE_SERVERS_ENDPOINTS"] = p.ip + ":36000," + p.ip + ":36020"
	p.env["PADDLE_TRAINERS_ENDPOINTS"] = p.ip + ":36040," + p.ip + ":36060"
	all := g.run(t)
	g.requireTrained(t, 2, all)
	require.Equal(t, 2, strings.Count(all["worker-0"].log, "trained: "))
}

// heter adds heterogeneous trainers to a job with servers.
func (g *gang) heter(count int) *gang {
	trainers, base := 0, g.pods[len(g.pods)-1].env
	for _, p := range g.pods {
		if p.env["TRAINING_ROLE"] == rules.Trainer {
			trainers++
		}
	}
	var list []string
	for i := range count {
		p := g.add(fmt.Sprintf("heter-%d", i), "python3", "train.py")
		for name, value := range base {
			p.env[name] = value
		}
		p.env["TRAINING_ROLE"], p.env["POD_IP"], p.env["PADDLE_PORT"] = rules.HeterTrainer, p.ip, "36000"
		p.env["STAGE_ID"], p.env["HETER_DEVICE_TYPE"] = "2", "cpu"
		p.env["PADDLE_PREVIOUS_HETER_TRAINER_IP_PORT_LIST"] = base["PADDLE_TRAINER_ENDPOINTS"]
		list = append(list, p.ip+":36000")
	}
	for _, p := range g.pods {
		if p.env["TRAINING_ROLE"] == rules.Trainer {
			p.env["STAGE_ID"], p.env["PADDLE_NEXT_HETER_TRAINER_IP_PORT_LIST"] = "1", strings.Join(list, ",")
		}
	}
	g.set("PADDLE_ALL_HETER_TRAINER_IP_PORT_LIST", strings.Join(list, ",")).set("STAGE_NUM", "2")
	return g.set("PADDLE_STAGE_TRAINERS_NUM", fmt.Sprintf("[%d, %d]", trainers, count))
}

func TestHeterogeneousTrainersTrain(t *testing.T) {
	for _, count := range []int{1, 2, 3} {
		g := psGang(t, 2, 2, 1, false).heter(count)
		all := g.run(t)
		g.requireTrained(t, 2, all)
		require.Contains(t, all["heter-0"].log, "all 2 trainers are done")
	}
}

func TestCollectiveTrains(t *testing.T) {
	for _, names := range []bool{false, true} {
		t.Run(fmt.Sprintf("names %t", names), func(t *testing.T) {
			g := collectiveGang(t, 3, names)
			g.requireTrained(t, 3, g.run(t))
		})
	}
	t.Run("by a master", func(t *testing.T) {
		g := collectiveGang(t, 4, true).set("PADDLE_MASTER", "worker-0.job:36000").set("PADDLE_NNODES", "4").set("PORT_RANGE", "36001:36017")
		for _, p := range g.pods {
			delete(p.env, "PADDLE_TRAINER_ENDPOINTS")
		}
		all := g.run(t)
		g.requireTrained(t, 4, all)
		require.Contains(t, all["worker-3"].log, "launcher: node 3 of 4 at worker-3.job:36001, the master is worker-0.job:36000")
	})
	for _, line := range []string{"paddleformers-cli train a.yaml", "erniekit train a.yaml"} {
		t.Run(line, func(t *testing.T) {
			g := newGang(t)
			for i := range 3 {
				p := g.add(fmt.Sprintf("worker-%d", i), strings.Fields(line)...)
				p.env["POD_IP"], p.env["RANK"], p.env["PORT_RANGE"] = p.ip, strconv.Itoa(i), "36100:36117"
			}
			g.set("NNODES", "3").set("MASTER_ADDR", g.pods[0].ip).set("MASTER_PORT", "36019").set("CUDA_VISIBLE_DEVICES", "0")
			all := g.run(t)
			g.requireTrained(t, 3, all)
			require.Contains(t, all["worker-0"].log, fmt.Sprintf("launcher: node 0 of 3 at %[1]s:36100, the master is %[1]s:36019", g.pods[0].ip))
		})
	}
	t.Run("without the launcher", func(t *testing.T) {
		g := collectiveGang(t, 2, false)
		for _, p := range g.pods {
			p.line = []string{"python", "train_fleet.py"}
		}
		g.requireTrained(t, 2, g.run(t))
	})
}

func TestOneTrainsAlone(t *testing.T) {
	for _, line := range []string{"trainer", "python train.py", "python -m paddle.distributed.launch run_check", "bash -c"} {
		g := newGang(t)
		p := g.add("worker-0", strings.Fields(line)...)
		if line == "bash -c" {
			p.line = append(p.line, "cd "+t.TempDir()+"; python3 train.py")
		}
		g.requireTrained(t, 1, g.run(t))
	}
}
