// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"volcano.sh/volcano/pkg/scheduler"
	"volcano.sh/volcano/pkg/scheduler/framework"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/network"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

func TestDefaultArguments(t *testing.T) {
	parsed, err := parseArguments(nil)
	require.NoError(t, err)
	require.Equal(t, arguments{
		taskRoles: defaultTaskRoles,
		network: network.Options{Accelerators: []string{"nvidia.com/gpu", "amd.com/gpu", "kunlunxin.com/xpu", "huawei.com/Ascend910",
			"cambricon.com/mlu", "hygon.com/dcu", "iluvatar.com/gpu", "iluvatar.ai/gpu", "metax-tech.com/gpu", "enflame.com/gcu"}},
		objective: placement.BytesFirst, effort: 1, colocation: placement.Preferred, colocationTier: 1, weight: 10, keepPlace: 0.1, planning: 5 * time.Second,
	}, parsed)
}

// A configuration of one session does not reach the next.
func TestDefaultArgumentsAreNotShared(t *testing.T) {
	parsed, err := parseArguments(framework.Arguments{argServerTasks: "keeper"})
	require.NoError(t, err)
	parsed.network.Accelerators[0] = "changed"
	fresh := defaultArguments()
	require.NotContains(t, fresh.taskRoles, "keeper")
	require.Equal(t, "nvidia.com/gpu", fresh.network.Accelerators[0])
}

// volcanoReads gives what Volcano's parser makes of arguments as an administrator writes them.
func volcanoReads(t *testing.T, yaml string) framework.Arguments {
	t.Helper()
	_, tiers, _, _, err := scheduler.UnmarshalSchedulerConf(
		configuration("allocate", "- plugins:\n  - name: paddle\n    arguments: {"+yaml+"}\n"))
	require.NoError(t, err)
	return tiers[0].Plugins[0].Arguments
}

func TestArgumentsAsWritten(t *testing.T) {
	for written, change := range map[string]func(*arguments){
		"server-tasks: 'server, parameters'": func(a *arguments) {
			a.taskRoles["server"], a.taskRoles["parameters"] = roleServer, roleServer
		},
		"worker-tasks: [chief, worker]": func(a *arguments) { a.taskRoles["chief"] = roleWorker },
		"heter-tasks: stage":            func(a *arguments) { a.taskRoles["stage"] = roleHeter },
		"server-tasks: []":              func(*arguments) {},
		"topology-labels: [nvidia.com/gpu.clique, topology.kubernetes.io/zone]": func(a *arguments) {
			a.network.Labels = []string{"nvidia.com/gpu.clique", "topology.kubernetes.io/zone"}
		},
		"topology-labels: 'rack, zone'":                 func(a *arguments) { a.network.Labels = []string{"rack", "zone"} },
		"topology-labels: rack":                         func(a *arguments) { a.network.Labels = []string{"rack"} },
		"topology-labels: []":                           func(a *arguments) { a.network.Labels = []string{} },
		"tier-prices: [1, 2.5, '10', 0]":                func(a *arguments) { a.network.Prices = []float64{1, 2.5, 10, 0} },
		"tier-prices: '1, 4, 16384'":                    func(a *arguments) { a.network.Prices = []float64{1, 4, 16384} },
		"tier-prices: 2":                                func(a *arguments) { a.network.Prices = []float64{2} },
		"island-price: 0.001":                           func(a *arguments) { a.network.IslandPrice = 0.001 },
		"island-price: 16384":                           func(a *arguments) { a.network.IslandPrice = 16384 },
		"tier-bandwidths: [100Gbps, 2.5 Tbps, 800Mbps]": func(a *arguments) { a.network.Bandwidths = []float64{12.5e9, 312.5e9, 1e8} },
		"tier-bandwidths: '200Gbps,400Gbps'":            func(a *arguments) { a.network.Bandwidths = []float64{25e9, 50e9} },
		"tier-bandwidths: 8Gbps":                        func(a *arguments) { a.network.Bandwidths = []float64{1e9} },
		"accelerators: [example.org/npu]":               func(a *arguments) { a.network.Accelerators = []string{"example.org/npu"} },
		"objective: busiest":                            func(a *arguments) { a.objective = placement.BusiestFirst },
		"objective: Bytes":                              func(*arguments) {},
		"effort: 1000":                                  func(a *arguments) { a.effort = 1000 },
		"effort: '5'":                                   func(a *arguments) { a.effort = 5 },
		"effort: 2.0":                                   func(a *arguments) { a.effort = 2 },
		"colocation: required":                          func(a *arguments) { a.colocation = placement.Required },
		"colocation: NONE":                              func(a *arguments) { a.colocation = placement.None },
		"colocation: Preferred":                         func(*arguments) {},
		"colocation-tier: 0":                            func(a *arguments) { a.colocationTier = 0 },
		"colocation-tier: 13":                           func(a *arguments) { a.colocationTier = 13 },
		"parameter-size: 2Gi":                           func(a *arguments) { a.parameterBytes = 2 << 30 },
		"parameter-size: 500M":                          func(a *arguments) { a.parameterBytes = 5e8 },
		"parameter-size: 1e9":                           func(a *arguments) { a.parameterBytes = 1e9 },
		"parameter-size: 4000000000":                    func(a *arguments) { a.parameterBytes = 4e9 },
		"parameter-size: 1Pi":                           func(a *arguments) { a.parameterBytes = 1 << 50 },
		"parameter-size: 0":                             func(*arguments) {},
		"parallel-group-size: 65536":                    func(a *arguments) { a.groupSize = 65536 },
		"weight: 0":                                     func(a *arguments) { a.weight = 0 },
		"weight: 2.5":                                   func(a *arguments) { a.weight = 2.5 },
		"keep-place-percent: 25":                        func(a *arguments) { a.keepPlace = 0.25 },
		"keep-place-percent: '0'":                       func(a *arguments) { a.keepPlace = 0 },
		"planning-seconds: 0.25":                        func(a *arguments) { a.planning = time.Second / 4 },
		"planning-seconds: '3600'":                      func(a *arguments) { a.planning = time.Hour },
	} {
		t.Run(written, func(t *testing.T) {
			parsed, err := parseArguments(volcanoReads(t, written))
			require.NoError(t, err)
			want := defaultArguments()
			change(&want)
			require.Equal(t, want, parsed)
		})
	}
}

func TestWrongArgumentsAreIgnored(t *testing.T) {
	const labels15 = "a,b,c,d,e,f,g,h,i,j,k,l,m,n,o"
	for written, text := range map[string]string{
		"server-tasks: 3":                                 `argument "server-tasks" is ignored: 3 is not a list of texts`,
		"server-tasks: on":                                `true is not a list of texts`,
		"server-tasks: {a: b}":                            `map[a:b] is not a list of texts`,
		"server-tasks: 'server,,ps'":                      `the list holds an empty text`,
		"server-tasks: ''":                                `the list holds an empty text`,
		"server-tasks: [3]":                               `3 in the list is not a text`,
		"server-tasks: ['a,b']":                           `"a,b" in the list holds a comma`,
		"server-tasks: 'server,worker'":                   `task name "worker" means worker already`,
		"topology-labels: 1":                              `1 is not a list of texts`,
		"topology-labels: [/rack]":                        `"/rack" is no label key: prefix part must be non-empty`,
		"topology-labels: [a, b, a]":                      `label key "a" is listed twice`,
		"topology-labels: '" + labels15 + "'":             `15 label keys are more than 13`,
		"topology-labels: [rack, kubernetes.io/hostname]": `kubernetes.io/hostname is different on each node`,
		"tier-prices: [1, -1]":                            `entry 2: -1 is not a number from 0 to 16384`,
		"tier-prices: [1, 16385]":                         `entry 2: 16385 is not a number from 0 to 16384`,
		"tier-prices: [1, x]":                             `entry 2: "x" is not a number from 0 to 16384`,
		"tier-prices: [[1]]":                              `entry 1: [1] is not a number from 0 to 16384`,
		"tier-prices: '" + labels15 + ",p'":               `the list has 16 entries, more than 14`,
		"island-price: 0":                                 `0 is not a number from 0.001 to 16384`,
		"island-price: .nan":                              `NaN is not a number from 0.001 to 16384`,
		"island-price: .inf":                              `+Inf is not a number from 0.001 to 16384`,
		"island-price: 'NaN'":                             `"NaN" is not a number from 0.001 to 16384`,
		"tier-bandwidths: [100]":                          `entry 1: 100 is not a bandwidth such as 100Gbps (bits per second, with Mbps, Gbps or Tbps)`,
		"tier-bandwidths: [100GBps]":                      `entry 1: "100GBps" is not a bandwidth`,
		"tier-bandwidths: [0Gbps]":                        `entry 1: "0Gbps" is not more than 0 and at most 1000000Gbps`,
		"tier-bandwidths: [1000001Tbps]":                  `entry 1: "1000001Tbps" is not more than 0 and at most 1000000Tbps`,
		"accelerators: []":                                `the list is empty; leave the argument out for the usual names`,
		"accelerators: [cpu]":                             `resource "cpu" is no device: the name of one has a domain, as in nvidia.com/gpu`,
		"accelerators: [nvidia.com/]":                     `"nvidia.com/" is no resource: name part must be non-empty`,
		"objective: speed":                                `argument "objective" is ignored: "speed" is none of busiest, bytes`,
		"objective: 1":                                    `1 is none of busiest, bytes`,
		"objective: ":                                     `an empty value is none of busiest, bytes`,
		"effort: 0":                                       `0 is not a whole number from 1 to 1000`,
		"effort: 1001":                                    `1001 is not a whole number from 1 to 1000`,
		"effort: 1.5":                                     `1.5 is not a whole number from 1 to 1000`,
		"effort: true":                                    `true is not a whole number from 1 to 1000`,
		"effort: 18446744073709551615":                    `18446744073709551615 is not a whole number from 1 to 1000`,
		"effort: 9223372036854775807":                     `9223372036854775807 is not a whole number from 1 to 1000`,
		"colocation: no":                                  `false is none of None, Preferred, Required`,
		"colocation-tier: -1":                             `-1 is not a whole number from 0 to 13`,
		"colocation-tier: 15":                             `15 is not a whole number from 0 to 13`,
		"parameter-size: 2GB":                             `"2GB" is not a quantity of bytes such as 2Gi`,
		"parameter-size: -1":                              `-1 bytes are not from 1 to 1Pi, and not 0`,
		"parameter-size: 500m":                            `500m bytes are not from 1 to 1Pi, and not 0`,
		"parameter-size: 2Pi":                             `2Pi bytes are not from 1 to 1Pi, and not 0`,
		"parameter-size: true":                            `true is not a quantity of bytes such as 2Gi`,
		"parallel-group-size: -1":                         `-1 is not a whole number from 0 to 65536`,
		"parallel-group-size: 65537":                      `65537 is not a whole number from 0 to 65536`,
		"weight: -1":                                      `-1 is not a number from 0 to 1000`,
		"weight: 1001":                                    `1001 is not a number from 0 to 1000`,
		"keep-place-percent: 1001":                        `1001 is not a number from 0 to 1000`,
		"planning-seconds: 0":                             `0 is not a number from 0.1 to 3600`,
		"planning-seconds: 1h":                            `"1h" is not a number from 0.1 to 3600`,
		"keep-place-percent: 10%":                         `"10%" is not a number from 0 to 1000`,
		"serverTasks: server":                             `argument "serverTasks" is ignored: there is no such argument; did you mean server-tasks?`,
		"colour: red":                                     `argument "colour" is ignored: there is no such argument; known are accelerators, colocation, colocation-tier,`,
	} {
		t.Run(written, func(t *testing.T) {
			parsed, err := parseArguments(volcanoReads(t, written))
			require.ErrorContains(t, err, text)
			require.Equal(t, defaultArguments(), parsed)
		})
	}
}

// One wrong argument takes none of the others with it, and all wrong ones are told, by name.
func TestEveryWrongArgumentIsTold(t *testing.T) {
	parsed, err := parseArguments(framework.Arguments{argServerTasks: "node", argWorkerTasks: "node", argEffort: 7, argWeight: -1})
	require.EqualError(t, err, `argument "weight" is ignored: -1 is not a number from 0 to 1000
argument "worker-tasks" is ignored: task name "node" means server already`)
	want := defaultArguments()
	want.taskRoles["node"], want.effort = roleServer, 7
	require.Equal(t, want, parsed)
}

func TestEveryArgumentIsKnown(t *testing.T) {
	for _, key := range []string{
		argServerTasks, argWorkerTasks, argHeterTasks, argLabels, argPrices, argIslandPrice, argBandwidths, argAccelerators,
		argObjective, argEffort, argColocation, argColocationTier, argParameterSize, argGroupSize, argWeight, argKeepPlace,
		argPlanning,
	} {
		require.Contains(t, settings, key)
	}
	require.Len(t, settings, 17)
}

func TestNearest(t *testing.T) {
	known := []string{argColocation, argColocationTier, argEffort, argServerTasks, argHeterTasks, argWeight}
	for word, want := range map[string]string{
		"serverTasks": argServerTasks, "server_tasks": argServerTasks, "Server-Tasks": argServerTasks, "servertask": argServerTasks,
		"colocaton": argColocation, "collocation": argColocation, "colocationtier": argColocationTier, "efort": argEffort,
		"wieght": argWeight, "weigh": argWeight, "heather-tasks": argHeterTasks, "x": "", "": "", "servers": "", "tasks": "",
	} {
		found, ok := nearest(word, known)
		require.Equal(t, want, found, word)
		require.Equal(t, want != "", ok, word)
	}
	found, _ := nearest("abcx", []string{"abcd", "abce"})
	require.Equal(t, "abcd", found, "the first of equals")
}

// Plugins are built each second: an error that is the same as before is not logged again.
func TestArgumentErrorsAreLoggedOncePerChange(t *testing.T) {
	var last lastMessage
	require.False(t, last.changed(nil))
	require.True(t, last.changed(errors.New("a")))
	require.False(t, last.changed(errors.New("a")))
	require.True(t, last.changed(errors.New("b")))
	require.True(t, last.changed(nil))
	require.True(t, last.changed(errors.New("b")))
}

// An argument reaches the session.
func TestTaskNamesFromArguments(t *testing.T) {
	argument := "    arguments:\n      server-tasks: keeper\n"
	objects := func() []any {
		workers := withEnv(plainPods("job", "worker", 4, oneCPU), "PADDLE_TRAINER_ID", "0")
		return []any{
			podGroup("job", 2, map[string]int32{"keeper": 2, "worker": 4}), plainPods("job", "keeper", 2, oneCPU), workers,
			// n1: [keeper][keeper][worker]
			node("n1", resources{"cpu": "3", "memory": "8Gi"}),
		}
	}
	c := newCluster(t, configuration(actionsAll, tier(1, "", withPaddle+argument), tier(2, "", "")), objects()...)
	c.sessions(2, "job-keeper-0", "job-keeper-1", "job-worker-0")
}
