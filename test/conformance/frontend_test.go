// SPDX-License-Identifier: Apache-2.0

package conformance_test

import (
	"cmp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	"github.com/paddle-volcano/paddle-volcano/test/cases"
	"github.com/paddle-volcano/paddle-volcano/test/conformance"
	"github.com/paddle-volcano/paddle-volcano/test/conformance/rules"
)

// documented is a command that the pods of a job run.
type documented struct {
	Command string
	// Page is where the command is from, with a line or a section.
	Page string
	// Workers, Servers, Heter and Elastic are the job; it has 2 workers unless they are given.
	Workers, Servers, Heter int
	Elastic                 bool
	// Networks are those that it is for, all if there are none.
	Networks []v1.Intranet
	// Want names an entry of the file's wants. Wants is one of the command's own.
	Want  string
	Wants map[string]string
}

// commands are testdata/commands.yaml.
type commands struct {
	// Wants have what comes of a command by Paddle's release, or by the version of a front end: how nodes are ranked, index or
	// arrival, or a part of what is said if they form no job.
	Wants map[string]map[string]string
	// Documented are commands of pages. Others show what else decides.
	Documented, Others []documented
}

// gangs has the gangs of jobs by their names.
type gangs map[string]*conformance.Gang

func (g gangs) of(t *testing.T, c *documented, network v1.Intranet) *conformance.Gang {
	t.Helper()
	shape := shape{workers: cmp.Or(c.Workers, 2), ps: c.Servers, heter: c.Heter, elastic: c.Elastic, intranet: network, fallback: "front"}
	if g[shape.name()] == nil {
		run := start(t, shape.job(), builder.Config{})
		if network == v1.Host {
			first, ok := builder.ChoosePorts(builder.HostPortsOf(run.cfg), builder.PortsNeeded(run.job), nil, "")
			require.True(t, ok)
			run.onNodes(first, false)
		}
		gang, err := conformance.NewGang(shape.mode(), run.pods, run.services, run.configMaps(t))
		require.NoError(t, err)
		g[shape.name()] = gang
	}
	return g[shape.name()]
}

func ranked(want string) bool { return want == "index" || want == "arrival" }

// Each command forms one job, or fails as is known, with every release that it is for, in every network.
func TestDocumentedCommands(t *testing.T) {
	file := cases.Read[commands](t, "testdata/commands.yaml")
	made, used, oneJob := gangs{}, map[string]bool{}, 0
	for i, c := range slices.Concat(file.Documented, file.Others) {
		ofPage := i < len(file.Documented)
		require.Equal(t, ofPage, c.Page != "", c.Command)
		if c.Want != "" {
			used[c.Want], c.Wants = true, file.Wants[c.Want]
		}
		require.NotEmpty(t, c.Wants, c.Command)
		if len(c.Networks) == 0 {
			c.Networks = []v1.Intranet{v1.PodIP, v1.Service, v1.Host}
		}
		forms := true
		for _, network := range c.Networks {
			gang := made.of(t, &c, network)
			for key, want := range c.Wants {
				requireCommand(t, gang, &c, key, want)
				forms = forms && ranked(want)
			}
		}
		if ofPage && forms {
			oneJob++
		}
	}
	require.GreaterOrEqual(t, oneJob, 40)
	require.Len(t, used, len(file.Wants), "a want of no command")
	t.Logf("%d commands of %d pages form one job", oneJob, len(file.Documented))
}

// requireCommand runs a command by a release, or by a version of a front end and every release that it works with.
func requireCommand(t *testing.T, gang *conformance.Gang, c *documented, key, want string) {
	t.Helper()
	tried := 0
	for _, release := range rules.Releases() {
		front, ok := rules.FrontEnds[key]
		if ok && release < front.Paddle || !ok && string(release) != "Paddle "+key {
			continue
		}
		tried++
		ranks, err := gang.CheckCommand(c.Command, key, release)
		if ranked(want) {
			require.NoError(t, err, "%s, %s: %s", key, release, c.Command)
			require.Equal(t, want, ranks, "%s, %s: %s", key, release, c.Command)
		} else {
			require.ErrorContains(t, err, want, "%s, %s: %s", key, release, c.Command)
		}
	}
	require.Positive(t, tried, "%s is no release and no front end", key)
}
