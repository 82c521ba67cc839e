// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"
	"maps"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/test/cases"
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

// trap is a change of the variables of a gang that trains, and what is said of it.
type trap struct {
	Gang string
	// All are variables of every pod, Pods those of some, by their index.
	All     map[string]string
	Without []string
	Pods    map[int]map[string]string
	Want    string
}

func TestTrapsOfVariables(t *testing.T) {
	gangs := map[string]func() *Gang{
		"ps": psGang, "collective": collectiveGang, "single": singleGang,
		"direct":  func() *Gang { return psGang().Direct() },
		"heter":   func() *Gang { return heterGang().Direct() },
		"elastic": func() *Gang { return elasticGang().Direct() },
		"shared":  func() *Gang { return sharedGang().Direct() },
	}
	for name, test := range cases.Read[map[string]trap](t, "testdata/traps.yaml") {
		t.Run(name, func(t *testing.T) {
			require.Contains(t, gangs, test.Gang)
			gang := gangs[test.Gang]()
			require.NoError(t, gang.Check(), "before")
			for _, variable := range test.Without {
				gang.unset(variable)
			}
			for variable, value := range test.All {
				gang.set(variable, value)
			}
			for index, variables := range test.Pods {
				maps.Copy(gang.Pods[index].Env, variables)
			}
			require.ErrorContains(t, gang.Check(), test.Want)
		})
	}
}
