// SPDX-License-Identifier: Apache-2.0

package config

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

func TestDefault(t *testing.T) {
	decoded, errs := Decode(nil, nil)
	require.Empty(t, errs)
	require.Equal(t, Default(), decoded)
	require.Empty(t, validate(&decoded, nil))
	require.Equal(t, 5*time.Second, decoded.PlanningTime())
}

// Arguments of one session do not reach the next.
func TestDefault_IsNotShared(t *testing.T) {
	decoded, errs := Decode(map[string]any{"server-tasks": "keeper"}, nil)
	require.Empty(t, errs)
	decoded.Accelerators[0] = "changed"
	require.NotContains(t, Default().ServerTasks, "keeper")
	require.Equal(t, "nvidia.com/gpu", Default().Accelerators[0])
}

// decode returns what Volcano's parser and Decode make of arguments as an administrator writes them.
func decode(t *testing.T, yaml string) (Arguments, error) {
	t.Helper()
	parsed, ignored, err := Parse("actions: allocate\ntiers:\n- plugins:\n  - name: paddle\n    arguments: {" + yaml + "}\n")
	require.NoError(t, err)
	require.Empty(t, ignored)
	decoded, errs := Decode(parsed.Tiers[0].Plugins[0].Arguments, nil)
	if len(errs) == 0 {
		return decoded, nil
	}
	return decoded, errs.ToAggregate()
}

func TestDecode(t *testing.T) {
	for written, change := range map[string]func(*Arguments){
		"server-tasks: 'server, parameters'": func(a *Arguments) {
			a.ServerTasks = append(a.ServerTasks, "server", "parameters")
		},
		"worker-tasks: [chief, worker]": func(a *Arguments) { a.WorkerTasks = append(a.WorkerTasks, "chief") },
		"heter-tasks: stage":            func(a *Arguments) { a.HeterTasks = append(a.HeterTasks, "stage") },
		"server-tasks: []":              func(*Arguments) {},
		"topology-labels: [nvidia.com/gpu.clique, topology.kubernetes.io/zone]": func(a *Arguments) {
			a.TopologyLabels = []string{"nvidia.com/gpu.clique", "topology.kubernetes.io/zone"}
		},
		"topology-labels: 'rack, zone'":                 func(a *Arguments) { a.TopologyLabels = []string{"rack", "zone"} },
		"topology-labels: rack":                         func(a *Arguments) { a.TopologyLabels = []string{"rack"} },
		"topology-labels: []":                           func(a *Arguments) { a.TopologyLabels = []string{} },
		"tier-weights: [1, 2.5, '10', 0]":               func(a *Arguments) { a.TierWeights = []float64{1, 2.5, 10, 0} },
		"tier-weights: '1, 4, 16384'":                   func(a *Arguments) { a.TierWeights = []float64{1, 4, 16384} },
		"tier-weights: 2":                               func(a *Arguments) { a.TierWeights = []float64{2} },
		"intra-node-weight: 0.001":                      func(a *Arguments) { a.IntraNodeWeight = 0.001 },
		"intra-node-weight: 16384":                      func(a *Arguments) { a.IntraNodeWeight = 16384 },
		"tier-bandwidths: [100Gbps, 2.5 Tbps, 800Mbps]": func(a *Arguments) { a.TierBandwidths = []float64{12.5e9, 312.5e9, 1e8} },
		"tier-bandwidths: '200Gbps,400Gbps'":            func(a *Arguments) { a.TierBandwidths = []float64{25e9, 50e9} },
		"tier-bandwidths: 8Gbps":                        func(a *Arguments) { a.TierBandwidths = []float64{1e9} },
		"accelerators: [example.org/npu]":               func(a *Arguments) { a.Accelerators = []string{"example.org/npu"} },
		"objective: max-link-load":                      func(a *Arguments) { a.Objective = placement.BusiestFirst },
		"objective: Bytes":                              func(*Arguments) {},
		"search-budget: 1000":                           func(a *Arguments) { a.SearchBudget = 1000 },
		"search-budget: '5'":                            func(a *Arguments) { a.SearchBudget = 5 },
		"search-budget: 2.0":                            func(a *Arguments) { a.SearchBudget = 2 },
		"colocation: required":                          func(a *Arguments) { a.Colocation = placement.Required },
		"colocation: NONE":                              func(a *Arguments) { a.Colocation = placement.None },
		"colocation: Preferred":                         func(*Arguments) {},
		"colocation-tier: 0":                            func(a *Arguments) { a.ColocationTier = 0 },
		"colocation-tier: 13":                           func(a *Arguments) { a.ColocationTier = 13 },
		"parameter-size: 2Gi":                           func(a *Arguments) { a.ParameterBytes = 2 << 30 },
		"parameter-size: 500M":                          func(a *Arguments) { a.ParameterBytes = 5e8 },
		"parameter-size: 1e9":                           func(a *Arguments) { a.ParameterBytes = 1e9 },
		"parameter-size: 4000000000":                    func(a *Arguments) { a.ParameterBytes = 4e9 },
		"parameter-size: 1Pi":                           func(a *Arguments) { a.ParameterBytes = 1 << 50 },
		"parameter-size: 0":                             func(*Arguments) {},
		"parallel-group-size: 65536":                    func(a *Arguments) { a.ParallelGroupSize = 65536 },
		"weight: 0":                                     func(a *Arguments) { a.Weight = 0 },
		"weight: 2.5":                                   func(a *Arguments) { a.Weight = 2.5 },
		"restart-tolerance-percent: 25":                 func(a *Arguments) { a.RestartTolerancePercent = 25 },
		"restart-tolerance-percent: '0'":                func(a *Arguments) { a.RestartTolerancePercent = 0 },
		"planning-seconds: 0.25":                        func(a *Arguments) { a.PlanningSeconds = 0.25 },
		"planning-seconds: '3600'":                      func(a *Arguments) { a.PlanningSeconds = 3600 },
	} {
		t.Run(written, func(t *testing.T) {
			parsed, err := decode(t, written)
			require.NoError(t, err)
			want := Default()
			change(&want)
			require.Equal(t, want, parsed)
		})
	}
}

func TestDecode_InvalidArgumentsKeepTheirDefaults(t *testing.T) {
	const labels15, weights15 = "a,b,c,d,e,f,g,h,i,j,k,l,m,n,o", "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1"
	for written, text := range map[string]string{
		"server-tasks: 3":                                 `server-tasks: Invalid value: 3: element 0 must be a string that is not empty`,
		"server-tasks: on":                                `server-tasks: Invalid value: true: element 0 must be a string`,
		"server-tasks: {a: b}":                            `element 0 must be a string`,
		"server-tasks: 'server,,ps'":                      `server-tasks: Invalid value: "server,,ps": element 1 must be a string that is not empty`,
		"server-tasks: ''":                                `element 0 must be a string that is not empty`,
		"server-tasks: [3]":                               `server-tasks: Invalid value: [3]: element 0 must be a string`,
		"server-tasks: 'server,worker'":                   `server-tasks: Invalid value: "server,worker": task "worker" has another role`,
		"topology-labels: 1":                              `element 0 must be a string`,
		"topology-labels: [/rack]":                        `topology-labels[0]: Invalid value: "/rack": prefix part must be non-empty`,
		"topology-labels: [a, b, a]":                      `topology-labels[2]: Duplicate value: "a"`,
		"topology-labels: '" + labels15 + "'":             `topology-labels: Too many: 15: must have at most 13 items`,
		"topology-labels: [rack, kubernetes.io/hostname]": `topology-labels[1]: Invalid value: "kubernetes.io/hostname": differs on each node`,
		"tier-weights: [1, -1]":                           `tier-weights[1]: Invalid value: -1: must be between 0 and 16384, inclusive`,
		"tier-weights: [1, 16385]":                        `tier-weights[1]: Invalid value: 16385: must be between 0 and 16384, inclusive`,
		"tier-weights: [1, x]":                            `tier-weights: Invalid value: [1,"x"]: element 1 must be a number`,
		"tier-weights: [[1]]":                             `tier-weights: Invalid value: [[1]]: element 0 must be a number`,
		"tier-weights: '" + weights15 + "'":               `tier-weights: Too many: 15: must have at most 14 items`,
		"intra-node-weight: 0":                            `intra-node-weight: Invalid value: 0: must be between 0.001 and 16384, inclusive`,
		"intra-node-weight: .nan":                         `intra-node-weight: Invalid value: NaN: must be between`,
		"intra-node-weight: .inf":                         `intra-node-weight: Invalid value: +Inf: must be between`,
		"tier-bandwidths: [100]":                          `tier-bandwidths: Invalid value: [100]: element 0 must be bits per second with Mbps, Gbps or Tbps, such as 100Gbps`,
		"tier-bandwidths: [100GBps]":                      `element 0 must be bits per second`,
		"tier-bandwidths: [0Gbps]":                        `tier-bandwidths[0]: Invalid value: 0: must be more than 0`,
		"tier-bandwidths: [8000001Tbps]":                  `tier-bandwidths[0]: Invalid value: 1.000000125e+18: must be more than 0 and at most 8000000Tbps`,
		"accelerators: []":                                `accelerators: Required value: leave the argument out for the default resources`,
		"accelerators: [cpu]":                             `accelerators[0]: Invalid value: "cpu": must be an extended resource, such as nvidia.com/gpu`,
		"accelerators: [nvidia.com/]":                     `accelerators[0]: Invalid value: "nvidia.com/": name part must be non-empty`,
		"objective: speed":                                `objective: Invalid value: "speed": must be one of bytes, max-link-load`,
		"objective: 1":                                    `objective: Invalid value: 1: must be one of bytes, max-link-load`,
		"objective: ":                                     `objective: Invalid value: null: must be one of bytes, max-link-load`,
		"search-budget: 0":                                `search-budget: Invalid value: 0: must be between 1 and 1000, inclusive`,
		"search-budget: 1001":                             `must be between 1 and 1000, inclusive`,
		"search-budget: 1.5":                              `search-budget: Invalid value: 1.5: must be an integer`,
		"search-budget: true":                             `search-budget: Invalid value: true: must be an integer`,
		"search-budget: 18446744073709551615":             `must be an integer`,
		"search-budget: [1]":                              `search-budget: Invalid value: [1]: must be an integer`,
		"colocation: no":                                  `colocation: Invalid value: false: must be one of None, Preferred, Required`,
		"colocation-tier: -1":                             `colocation-tier: Invalid value: -1: must be between 0 and 13, inclusive`,
		"colocation-tier: 15":                             `must be between 0 and 13, inclusive`,
		"parameter-size: 2GB":                             `parameter-size: Invalid value: "2GB": must be a quantity of bytes such as 2Gi`,
		"parameter-size: -1":                              `parameter-size: Invalid value: -1: must be between 1 and`,
		"parameter-size: 500m":                            `parameter-size: Invalid value: 0.5: must be between 1 and`,
		"parameter-size: 2Pi":                             `must be between 1 and 1.125899906842624e+15, inclusive`,
		"parameter-size: true":                            `must be a quantity of bytes such as 2Gi`,
		"parallel-group-size: -1":                         `parallel-group-size: Invalid value: -1: must be between 0 and 65536, inclusive`,
		"parallel-group-size: 65537":                      `must be between 0 and 65536, inclusive`,
		"weight: -1":                                      `weight: Invalid value: -1: must be between 0 and 1000, inclusive`,
		"weight: 1001":                                    `must be between 0 and 1000, inclusive`,
		"restart-tolerance-percent: 1001":                 `restart-tolerance-percent: Invalid value: 1001: must be between 0 and 1000, inclusive`,
		"restart-tolerance-percent: 10%":                  `restart-tolerance-percent: Invalid value: "10%": must be a number`,
		"planning-seconds: 0":                             `planning-seconds: Invalid value: 0: must be between 0.1 and 3600, inclusive`,
		"planning-seconds: 1h":                            `planning-seconds: Invalid value: "1h": must be a number`,
		"serverTasks: server":                             `serverTasks: Unsupported value: "serverTasks": supported values: "accelerators", "colocation", "colocation-tier",`,
	} {
		t.Run(written, func(t *testing.T) {
			parsed, err := decode(t, written)
			require.ErrorContains(t, err, text)
			require.Equal(t, Default(), parsed)
		})
	}
}

// One invalid argument takes none of the others with it, and each is in the errors.
func TestDecode_EachErrorIsReported(t *testing.T) {
	decoded, errs := Decode(map[string]any{"server-tasks": "node", "worker-tasks": "node", "search-budget": 7, "weight": -1}, field.NewPath("arguments"))
	require.EqualError(t, errs.ToAggregate(), `[arguments.weight: Invalid value: -1: must be between 0 and 1000, inclusive, `+
		`arguments.worker-tasks: Invalid value: "node": task "node" has another role]`)
	want := Default()
	want.ServerTasks, want.SearchBudget = append(want.ServerTasks, "node"), 7
	require.Equal(t, want, decoded)
}

const plain = "actions: \"allocate\"\ntiers: []\n"

func TestParse(t *testing.T) {
	parsed, ignored, err := Parse(plain + "action: x\ntiers: []\n")
	require.NoError(t, err)
	require.Equal(t, "allocate", parsed.Actions)
	require.Equal(t, []string{"line 3: field action not found in type conf.SchedulerConfiguration", "line 4: field tiers already set in type conf.SchedulerConfiguration"}, ignored)
	for _, broken := range []string{"actions: [", "- plugins", "actions: {a: b}", "tiers: {a: b}"} {
		_, _, err := Parse(broken)
		require.ErrorContains(t, err, "parse volcano-scheduler.conf: yaml: ")
	}
}

func TestFind(t *testing.T) {
	for name, test := range map[string]struct {
		file string
		want []string
	}{
		"the file itself":     {plain, []string{plain}},
		"what is not YAML":    {"actions: [", []string{"actions: ["}},
		"another release's":   {"kind: ConfigMap\ndata:\n  x: z\n  my-scheduler.conf: |\n    actions: a\n", []string{"actions: a\n"}},
		"after other objects": {"kind: Service\n---\n\n---\nkind: ConfigMap\ndata: {volcano-scheduler.conf: 'actions: a'}\n", []string{"actions: a"}},
		"in a list":           {"kind: List\nitems:\n- kind: Pod\n- kind: ConfigMap\n  data: {volcano-scheduler.conf: 'actions: a'}\n", []string{"actions: a"}},
		"two":                 {"kind: ConfigMap\ndata: {scheduler.conf: a}\n---\nkind: ConfigMap\ndata: {scheduler.conf: b}\n", []string{"a", "b"}},
		"a Secret":            {"kind: Secret\ndata: {volcano-scheduler.conf: YQ==}\n", nil},
		"none":                {"kind: ConfigMap\ndata: {a: b}\n---\n[1, 2]\n", nil},
		"nothing":             {"", nil},
	} {
		t.Run(name, func(t *testing.T) {
			found, err := Find([]byte(test.file))
			require.Equal(t, test.want, found)
			if test.want == nil {
				require.ErrorContains(t, err, "holds neither a volcano-scheduler.conf nor a ConfigMap with one")
			}
		})
	}
}
