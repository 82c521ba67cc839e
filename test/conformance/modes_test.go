// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"
	"maps"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/test/conformance/rules"
)

// heterGang is psGang with two heterogeneous trainers.
func heterGang() *Gang {
	g := psGang()
	trainers := g.Pods[2].Env["PADDLE_TRAINER_ENDPOINTS"]
	const list = "10.0.0.21:36000,10.0.0.22:36000"
	for i, ip := range []string{"10.0.0.21", "10.0.0.22"} {
		pod := Pod{Name: fmt.Sprintf("job-heter-%d", i), Role: rules.HeterTrainer, Index: i, IP: ip, Env: maps.Clone(g.Pods[0].Env)}
		maps.Copy(pod.Env, map[string]string{
			"TRAINING_ROLE": rules.HeterTrainer, "POD_IP": ip, "PADDLE_TRAINER_ID": strconv.Itoa(i), "STAGE_ID": "2", "HETER_DEVICE_TYPE": "gpu",
			"PADDLE_PREVIOUS_HETER_TRAINER_IP_PORT_LIST": trainers,
		})
		g.Pods = append(g.Pods, pod)
	}
	for i := range g.Pods {
		if g.Pods[i].Role == rules.Trainer {
			maps.Copy(g.Pods[i].Env, map[string]string{"STAGE_ID": "1", "PADDLE_NEXT_HETER_TRAINER_IP_PORT_LIST": list})
		}
	}
	for name, value := range map[string]string{
		"PADDLE_ALL_HETER_TRAINER_IP_PORT_LIST": list, "PADDLE_HETER_TRAINER_IP_PORT_LIST": list, "PADDLE_HETER_TRAINER_DEVICE": "gpu",
		"STAGE_NUM": "2", "PADDLE_STAGE_TRAINERS_NUM": "[3, 2]",
	} {
		g.set(name, value)
	}
	g.Resolve = g.byIP
	return g
}

func elasticGang() *Gang {
	g := &Gang{Mode: Elastic}
	for i := range 3 {
		ip := fmt.Sprintf("10.0.0.1%d", i)
		g.Pods = append(g.Pods, Pod{Name: fmt.Sprintf("job-worker-%d", i), Role: rules.Trainer, Index: i, IP: ip, Env: map[string]string{
			"POD_IP": ip, "PADDLE_MASTER": "etcd://kv.ns:2379", "PADDLE_NNODES": "2:4", "PADDLE_JOB_ID": "ns-job", "PADDLE_ELASTIC_LEVEL": "1",
		}})
	}
	g.Resolve = g.byIP
	return g
}

// sharedGang is psGang on two nodes, each with a server and a trainer or two.
func sharedGang() *Gang {
	g := psGang()
	g.set("PADDLE_PSERVERS_IP_PORT_LIST", "10.1.0.1:20000,10.1.0.2:20020")
	g.set("PADDLE_TRAINER_ENDPOINTS", "10.1.0.1:20040,10.1.0.2:20060,10.1.0.1:20080")
	g.set("PADDLE_GLOO_HTTP_ENDPOINT", "10.1.0.1:20018")
	for i, node := range []string{"10.1.0.1", "10.1.0.2", "10.1.0.1", "10.1.0.2", "10.1.0.1"} {
		pod := &g.Pods[i]
		port := 20000 + 20*i
		pod.IP = node
		maps.Copy(pod.Env, map[string]string{
			"POD_IP": node, "PADDLE_PORT": strconv.Itoa(port), "PORT_RANGE": fmt.Sprintf("%d:%d", port+1, port+17),
		})
	}
	return g
}

func TestGangsOfOtherModesTrain(t *testing.T) {
	for name, gang := range map[string]*Gang{"heter": heterGang(), "elastic": elasticGang(), "shared": sharedGang().Direct()} {
		require.NoError(t, gang.Check(), name)
	}
}

func TestTrapsOfOtherModes(t *testing.T) {
	one := func(index int, name, value string) func(*Gang) {
		return func(g *Gang) { g.Pods[index].Env[name] = value }
	}
	all := func(name, value string) func(*Gang) { return func(g *Gang) { g.set(name, value) } }
	without := func(name string) func(*Gang) { return func(g *Gang) { g.unset(name) } }
	const server, trainer, heter = 0, 2, 5
	for _, test := range []struct {
		name string
		gang func() *Gang
		trap func(*Gang)
		want string
	}{
		{"the operator's role", heterGang, one(heter, "TRAINING_ROLE", "HETER"), `TRAINING_ROLE is "HETER"`},
		{"nobody knows them", heterGang, without("PADDLE_ALL_HETER_TRAINER_IP_PORT_LIST"), "job-heter-0: role maker: AttributeError"},
		{"a server does not", heterGang, one(server, "PADDLE_ALL_HETER_TRAINER_IP_PORT_LIST", ""), "job-ps-0: knows nothing of the 2"},
		{"a trainer has none behind it", heterGang, one(trainer, "PADDLE_NEXT_HETER_TRAINER_IP_PORT_LIST", ""), "AssertionError: PADDLE_NEXT"},
		{"a last stage has none before it", heterGang, one(heter, "PADDLE_PREVIOUS_HETER_TRAINER_IP_PORT_LIST", ""), "AssertionError: PADDLE_PREVIOUS"},
		{"the stage before is the wrong one", heterGang, one(heter, "PADDLE_PREVIOUS_HETER_TRAINER_IP_PORT_LIST", "10.0.0.21:36000,10.0.0.22:36000,10.0.0.13:36000"),
			"which must lead to pod job-worker-0 alone"},
		{"the stage behind is half", heterGang, one(trainer, "PADDLE_NEXT_HETER_TRAINER_IP_PORT_LIST", "10.0.0.21:36000"), "has 1 entries for 2 pods"},
		{"not in the list", heterGang, one(heter, "PADDLE_PORT", "36001"), "does not find its own endpoint 10.0.0.21:36001"},
		{"no stage", heterGang, without("STAGE_ID"), "STAGE_ID is not set"},
		{"no number of stages", heterGang, without("STAGE_NUM"), "STAGE_NUM is not set"},
		{"no sizes", heterGang, without("PADDLE_STAGE_TRAINERS_NUM"), "PADDLE_STAGE_TRAINERS_NUM is not set"},
		{"sizes that are no list", heterGang, all("PADDLE_STAGE_TRAINERS_NUM", "3,2"), "is not a list of numbers"},
		{"sizes that are no numbers", heterGang, all("PADDLE_STAGE_TRAINERS_NUM", "[3,x]"), "is not a list of numbers"},
		{"wrong sizes", heterGang, all("PADDLE_STAGE_TRAINERS_NUM", "[2, 3]"), "reckons with 2 stages of [2 3] processes"},
		{"the wrong stage", heterGang, one(heter, "STAGE_ID", "1"), "job-heter-0: takes itself for a process of stage 1"},
		{"no device", heterGang, without("HETER_DEVICE_TYPE"), "HETER_DEVICE_TYPE is not set"},
		{"an unknown device", heterGang, one(heter, "HETER_DEVICE_TYPE", "GPU"), `HETER_DEVICE_TYPE is "GPU"`},
		{"no device for 2.0", heterGang, without("PADDLE_HETER_TRAINER_DEVICE"), "PADDLE_HETER_TRAINER_DEVICE is"},
		{"no list for 2.0", heterGang, without("PADDLE_HETER_TRAINER_IP_PORT_LIST"), "PADDLE_HETER_TRAINER_IP_PORT_LIST has 0 entries"},
		{"heter without a mode for it", heterGang, func(g *Gang) { g.Pods, g.Mode = g.Pods[2:], Collective }, "has no heterogeneous trainers"},
		{"a list of nobody", psGang, all("PADDLE_ALL_HETER_TRAINER_IP_PORT_LIST", "10.0.0.9:1"), "AssertionError"},

		{"a fixed number", elasticGang, all("PADDLE_NNODES", "3"), "is no range"},
		{"an empty range", elasticGang, all("PADDLE_NNODES", "4:2"), "is not a range of nodes"},
		{"too few", elasticGang, all("PADDLE_NNODES", "4:5"), "train with 4 to 5 nodes, and there are 3"},
		{"too many", elasticGang, all("PADDLE_NNODES", "1:2"), "train with 1 to 2 nodes, and there are 3"},
		{"endpoints", elasticGang, all("PADDLE_TRAINER_ENDPOINTS", "10.0.0.10:1"), "beats the etcd"},
		{"a rank", elasticGang, one(1, "PADDLE_TRAINER_ID", "1"), "IndexError: PADDLE_TRAINER_ID=1"},
		{"a rank of the older kind", elasticGang, one(1, "PADDLE_RANK", "1"), "IndexError: PADDLE_RANK=1"},
		{"no etcd", elasticGang, all("PADDLE_MASTER", "10.0.0.9:2379"), "does not switch to elastic training"},
		{"two etcds", elasticGang, one(1, "PADDLE_MASTER", "etcd://kv2:2379"), "job-worker-1: elastic launcher: looks for job"},
		{"an etcd without a port", elasticGang, all("PADDLE_MASTER", "etcd://kv"), "is not host:port"},
		{"no id", elasticGang, without("PADDLE_JOB_ID"), "meets every other job"},
		{"two ids", elasticGang, one(2, "PADDLE_JOB_ID", "other"), "job-worker-2: elastic launcher: looks for job other"},
		{"no level", elasticGang, without("PADDLE_ELASTIC_LEVEL"), "ends when a process of its own ends"},
		{"the old launcher's variables", elasticGang, all("PADDLE_ELASTIC_JOB_ID", "x"), "legacy mode"},
		{"a timeout that is none", elasticGang, all("PADDLE_ELASTIC_TIMEOUT", "long"), "is not a number"},
		{"an address that leads nowhere", elasticGang, one(1, "POD_IP", "10.9.9.9"), "which leads nowhere"},
		{"nobody", elasticGang, func(g *Gang) { g.Pods = nil }, "needs workers"},

		{"two at one port", sharedGang, one(trainer, "PADDLE_PORT", "20000"), "both use port 20000"},
		{"no port of its own", sharedGang, one(trainer, "PADDLE_PORT", ""), "has no port of its own"},
		{"launchers choose the same", sharedGang, one(trainer, "PORT_RANGE", "20001:20005"), "choose from the same ports"},
		{"a launcher chooses any", sharedGang, without("PORT_RANGE"), "choose from the same ports"},
		{"a launcher may choose another's", sharedGang, one(trainer, "PORT_RANGE", "20041:20080"), "both use port 20080"},
		{"gloo where a neighbour is", sharedGang, all("PADDLE_GLOO_HTTP_ENDPOINT", "10.1.0.1:20040"), "is on the port that job-worker-0 needs"},
		{"gloo where a neighbour may be", sharedGang, all("PADDLE_GLOO_HTTP_ENDPOINT", "10.1.0.1:20041"), "is on the port that job-worker-0 needs"},
		{"the wrong port at the right address", sharedGang, all("PADDLE_PSERVERS_IP_PORT_LIST", "10.1.0.1:20040,10.1.0.2:20020"), "does not find its own endpoint"},
	} {
		t.Run(test.name, func(t *testing.T) {
			gang := test.gang().Direct()
			require.NoError(t, gang.Check(), "before")
			test.trap(gang)
			require.ErrorContains(t, gang.Check(), test.want)
		})
	}
}
